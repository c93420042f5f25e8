//! The best value so far, and all values, over trials or over time.
//!
//! One pass over the study: a million trials take some milliseconds, and the answer has a point a pixel at most.

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
}

/// The history of a study; `None` if it has no such objective.
pub fn history(chronicle: &Chronicle, view: &View) -> Option<History> {
    let values = chronicle.objectives().get(view.objective)?;
    let direction = chronicle.goal().objectives().get(view.objective)?.direction;
    let low_is_good = direction.turn(1.0) > 0.0;
    let began =
        chronicle.proposed().iter().copied().filter(|time| time.is_finite()).reduce(f64::min);
    let origin = began.unwrap_or(0.0);
    let finished = chronicle.finished();
    let order: &mut dyn Iterator<Item = usize> = match view.by {
        By::Trial => &mut (0..chronicle.len()).filter(|&id| finished[id].is_finite()),
        By::Time => &mut chronicle.order().iter().map(|&id| id as usize),
    };
    let places: Vec<(usize, f64)> = order
        .map(|id| match view.by {
            By::Trial => (id, id as f64),
            By::Time => (id, finished[id] - origin),
        })
        .collect();
    let all = match view.by {
        By::Trial => Range { low: 0.0, high: chronicle.len().saturating_sub(1).max(1) as f64 },
        By::Time => Range::of(places.iter().map(|&(_, x)| x).chain([0.0])),
    };
    let x = window(all, view);
    let inside = |x_place: f64| x.low <= x_place && x_place <= x.high;
    let standings = chronicle.standings();
    let complete = |id: usize| standings[id] == Standing::Complete;

    let drawn = |value: f64| if view.log { value.log10() } else { value };
    let in_picture = || {
        places
            .iter()
            .filter(|&&(id, place)| inside(place) && complete(id))
            .map(|&(id, place)| (id, place, values[id]))
    };
    let positive = in_picture().all(|(_, _, value)| value > 0.0);
    let mut shown: Vec<f64> = in_picture().map(|(_, _, value)| drawn(value)).collect();
    let y = if view.whole {
        shown.retain(|value| value.is_finite());
        Range::of(shown.iter().copied())
    } else {
        telling_range(&mut shown, low_is_good)
    };
    let beyond = shown.iter().filter(|value| !(y.low..=y.high).contains(*value)).count();
    let (width, height) = (view.width.clamp(1, LARGEST), view.height.clamp(1, LARGEST));
    let few = shown.len() <= POINTS;
    let mut points = Points::default();
    if few {
        in_picture().for_each(|(id, x, value)| points.push(id, x, value));
    }
    let grid =
        || Grid::new(in_picture().map(|(_, x, value)| (x, drawn(value))), [x, y], [width, height]);
    let parts = (width / 4).max(1);
    let mut failed = vec![0; parts];
    for &(id, place) in &places {
        // What was stopped early did not fail.
        let failed_here = !complete(id) && standings[id] != Standing::Stopped;
        if let (true, Some(part)) = (failed_here, x.cell(place, parts)) {
            failed[part] += 1;
        }
    }
    let improvements = places.iter().filter(|&&(id, _)| complete(id)).scan(
        f64::INFINITY,
        |least, &(id, place)| {
            let turned = direction.turn(values[id]);
            let better = turned < *least;
            *least = least.min(turned);
            Some(better.then_some((id, place, values[id])))
        },
    );
    Some(History {
        by: view.by,
        x,
        all,
        y,
        positive,
        began,
        shown: shown.len(),
        beyond,
        points: few.then_some(points),
        grid: (!few).then(grid),
        best: thinned(improvements.flatten(), x, width * 2),
        failed,
    })
}

fn window(all: Range, view: &View) -> Range {
    let low = view.from.filter(|from| from.is_finite()).unwrap_or(all.low);
    let high = view.to.filter(|to| to.is_finite()).unwrap_or(all.high);
    if low < high { Range { low, high } } else { all }
}

/// The improvements inside the picture, the last before it, and of each cell the last only.
fn thinned(
    improvements: impl Iterator<Item = (usize, f64, f64)>,
    x: Range,
    cells: usize,
) -> Points {
    let mut kept = Points::default();
    let mut latest = None;
    for (id, place, value) in improvements {
        if place > x.high {
            break;
        }
        let cell = x.cell(place, cells);
        if cell == latest && !kept.x.is_empty() {
            kept.trial.pop();
            kept.x.pop();
            kept.y.pop();
        }
        latest = cell;
        kept.push(id, place, value);
    }
    kept
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
