//! The best value so far, and all values, over trials or over time.
//!
//! One pass over the study, and one over what is in the picture: a million trials take some milliseconds, and the answer has a
//! point a pixel at most.

use serde::{Deserialize, Serialize};

use super::{Grid, Range, telling_range};
use crate::view::chronicle::{Chronicle, Standing};

/// Up to this many values are sent as points.
pub const POINTS: usize = 2_000;
/// The most cells of a grid in each direction.
const LARGEST: usize = 1_000;

/// What to draw.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct View {
    /// The place of the objective.
    pub objective: usize,
    /// Over trials or over time.
    pub by: By,
    /// The first trial, or the first millisecond since the study began.
    pub from: Option<f64>,
    /// The last.
    pub to: Option<f64>,
    /// The width of the picture in cells.
    pub width: usize,
    /// The height of the picture in cells.
    pub height: usize,
    /// Show all values, even those so bad that they flatten the rest.
    pub whole: bool,
    /// Draw the logarithms of values; those that are not positive are left out.
    pub log: bool,
}

impl Default for View {
    fn default() -> Self {
        let (from, to) = (None, None);
        Self {
            objective: 0,
            by: By::Trial,
            from,
            to,
            width: 300,
            height: 120,
            whole: false,
            log: false,
        }
    }
}

/// What a history is drawn over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum By {
    /// The numbers of trials.
    Trial,
    /// Milliseconds since the first trial was proposed.
    Time,
}

/// The history of a study as a picture needs it.
#[derive(Debug, Serialize)]
pub struct History {
    /// Over what.
    pub by: By,
    /// What the picture shows from left to right.
    pub x: Range,
    /// What the whole study has.
    pub all: Range,
    /// What the picture shows from bottom to top; logarithms to base 10 where these were asked for.
    pub y: Range,
    /// Whether all values in the picture are positive, so that they have logarithms.
    pub positive: bool,
    /// When the study began, in milliseconds since 1970.
    pub began: Option<f64>,
    /// How many values are in the picture.
    pub shown: usize,
    /// How many are too bad for it.
    pub beyond: usize,
    /// The points, where they are few.
    pub points: Option<Points>,
    /// How dense they are, where they are many.
    pub grid: Option<Grid>,
    /// Where the best value so far improved; it holds until the next.
    pub best: Points,
    /// How many trials failed or were infeasible, in equal parts of the picture.
    pub failed: Vec<u32>,
}

/// Points, in columns.
#[derive(Debug, Default, PartialEq, Serialize)]
#[allow(missing_docs, reason = "the names say it")]
pub struct Points {
    pub trial: Vec<usize>,
    pub x: Vec<f64>,
    pub y: Vec<f64>,
}

impl Points {
    fn push(&mut self, trial: usize, x: f64, y: f64) {
        self.trial.push(trial);
        self.x.push(x);
        self.y.push(y);
    }

    fn pop(&mut self) {
        self.trial.pop();
        self.x.pop();
        self.y.pop();
    }
}

/// The history of a study; `None` if it has no such objective.
pub fn history(chronicle: &Chronicle, view: &View) -> Option<History> {
    let values = chronicle.objectives().get(view.objective)?;
    let direction = chronicle.goal().objectives().get(view.objective)?.direction;
    let low_is_good = direction.turn(1.0) > 0.0;
    let began = chronicle.began();
    let origin = began.unwrap_or(0.0);
    let finished = chronicle.finished();
    let place = |id: usize| match view.by {
        By::Trial => id as f64,
        By::Time => finished[id] - origin,
    };
    let all = match view.by {
        By::Trial => Range { low: 0.0, high: chronicle.len().saturating_sub(1).max(1) as f64 },
        By::Time => {
            let ends = chronicle.first_and_last_end();
            Range::of(ends.into_iter().flatten().map(|end| end - origin).chain([0.0]))
        }
    };
    let x = window(all, view);
    let drawn = |value: f64| if view.log { value.log10() } else { value };
    let (width, height) = (view.width.clamp(1, LARGEST), view.height.clamp(1, LARGEST));

    let standings = chronicle.standings();
    let mut best = Improvements::new(x, width * 2);
    let mut failed = vec![0; (width / 4).max(1)];
    let mut positive = true;
    // The complete trials in the picture, and their values as they are drawn.
    let (mut ids, mut shown) = (Vec::new(), Vec::new());
    let mut see = |id: usize| {
        let at = place(id);
        if at > x.high {
            return;
        }
        match standings[id] {
            Standing::Complete => {
                let value = values[id];
                best.see(id, at, value, direction.turn(value));
                if at >= x.low {
                    positive &= value > 0.0;
                    ids.push(id as u32);
                    shown.push(drawn(value));
                }
            }
            // What was stopped early did not fail.
            Standing::Stopped => {}
            _ => {
                if let Some(part) = x.cell(at, failed.len()) {
                    failed[part] += 1;
                }
            }
        }
    };
    match view.by {
        By::Trial => {
            let last = (x.high.max(0.0) as usize).saturating_add(1).min(chronicle.len());
            (0..last).filter(|&id| finished[id].is_finite()).for_each(&mut see);
        }
        By::Time => chronicle.order().iter().for_each(|&id| see(id as usize)),
    }

    let y = if view.whole {
        Range::of(shown.iter().copied())
    } else {
        telling_range(&shown, low_is_good)
    };
    let count = shown.iter().filter(|value| value.is_finite()).count();
    let inside = shown.iter().filter(|value| (y.low..=y.high).contains(*value)).count();
    let in_picture = ids.into_iter().map(|id| id as usize);
    let (mut points, mut grid) = (None, None);
    if count <= POINTS {
        let mut kept = Points::default();
        in_picture.for_each(|id| kept.push(id, place(id), values[id]));
        points = Some(kept);
    } else {
        let all = in_picture.map(place).zip(shown.iter().copied());
        grid = Some(Grid::new(all, [x, y], [width, height]));
    }
    Some(History {
        by: view.by,
        x,
        all,
        y,
        positive,
        began,
        shown: count,
        beyond: count - inside,
        points,
        grid,
        best: best.kept,
        failed,
    })
}

fn window(all: Range, view: &View) -> Range {
    let low = view.from.filter(|from| from.is_finite()).unwrap_or(all.low);
    let high = view.to.filter(|to| to.is_finite()).unwrap_or(all.high);
    if low < high { Range { low, high } } else { all }
}

/// The improvements inside a picture, the last before it, and of each cell the last only.
struct Improvements {
    kept: Points,
    x: Range,
    cells: usize,
    /// The best so far, turned so that low is good.
    least: f64,
    /// The cell of the last that was kept.
    latest: Option<usize>,
}

impl Improvements {
    fn new(x: Range, cells: usize) -> Self {
        Self { kept: Points::default(), x, cells, least: f64::INFINITY, latest: None }
    }

    /// The next trial.
    fn see(&mut self, id: usize, place: f64, value: f64, turned: f64) {
        if turned < self.least {
            self.least = turned;
            let cell = self.x.cell(place, self.cells);
            if cell == self.latest {
                self.kept.pop();
            }
            self.latest = cell;
            self.kept.push(id, place, value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::fixtures::parabola;

    fn of(finished: usize) -> Chronicle {
        let study = parabola(finished);
        let mut chronicle = Chronicle::new(study.store().study("parabola").unwrap());
        chronicle.catch_up(&**study.store()).unwrap();
        chronicle
    }

    #[test]
    fn the_best_so_far_is_that_of_a_naive_loop() {
        let chronicle = of(200);
        for by in [By::Trial, By::Time] {
            let drawn = history(&chronicle, &View { by, ..View::default() }).unwrap();
            let order: Vec<usize> = match by {
                By::Trial => (0..chronicle.len()).collect(),
                By::Time => chronicle.order().iter().map(|&id| id as usize).collect(),
            };
            let mut best = f64::INFINITY;
            let mut naive = Vec::new();
            for id in order {
                let value = chronicle.objective(0)[id];
                if value < best {
                    best = value;
                    naive.push((id, value));
                }
            }
            let kept: Vec<(usize, f64)> =
                drawn.best.trial.iter().copied().zip(drawn.best.y.iter().copied()).collect();
            assert!(kept.iter().all(|pair| naive.contains(pair)));
            assert_eq!(kept.last(), naive.last());
            assert_eq!((drawn.shown, drawn.failed.iter().sum::<u32>()), (200, 2));
            assert_eq!(drawn.points.unwrap().trial.len(), 200);
        }
    }

    #[test]
    fn many_values_become_a_grid_and_a_window_becomes_points_again() {
        let chronicle = of(POINTS + 500);
        let whole = history(&chronicle, &View::default()).unwrap();
        assert!(whole.points.is_none());
        let grid = whole.grid.unwrap();
        assert_eq!((grid.width, grid.height), (300, 120));
        let view = View { from: Some(100.0), to: Some(199.0), ..View::default() };
        let part = history(&chronicle, &view).unwrap();
        assert_eq!(part.shown, 100);
        let trials = part.points.unwrap().trial;
        assert_eq!((trials[0], trials[99]), (100, 199));
        // The best before the window is its beginning.
        assert!(part.best.x[0] <= 100.0);
        let log = history(&chronicle, &View { log: true, whole: true, ..View::default() }).unwrap();
        let least = chronicle
            .objective(0)
            .iter()
            .copied()
            .filter(|v| *v > 0.0)
            .fold(f64::INFINITY, f64::min);
        assert!(log.positive && (log.y.low - least.log10()).abs() < 1e-12);
        assert!(history(&chronicle, &View { objective: 1, ..View::default() }).is_none());
    }
}
