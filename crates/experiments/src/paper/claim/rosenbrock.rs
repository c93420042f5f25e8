//! The claims of Figure E.1, and where the particles behind its trend lie.

use super::{Claim, Comparison, Data, Verdict, last, over_cases};
use crate::paper::settings::Settings;
use crate::summary::{mean, short};

const METRIC: &str = "cumulative_regret";

pub(super) fn claims(settings: &Settings, data: &Data<'_>) -> Vec<Claim> {
    let by_particles = Trend::new(settings, data, "batch-bore++", "batch-bore");
    let by_draws = Trend::new(settings, data, "batch-bore++-draws", "batch-bore-draws");
    vec![
        Claim {
            paper: "Batch BORE++ has a clear advantage over batch BORE in low dimensions (3)."
                .to_owned(),
            measured: format!("cumulative regret less batch BORE's: {}", by_particles.measured),
            verdict: by_particles.in_three,
        },
        Claim {
            paper: "The gain becomes less obvious at higher dimensions and is lost in the end (5)."
                .to_owned(),
            measured: "as above; it holds if batch BORE++ is ahead in 3 dimensions and not in 5"
                .to_owned(),
            verdict: by_particles.fading,
        },
        Claim {
            paper: "(Not in the paper: the gain is lost in 5 dimensions where batches are independent draws from the same \
                    density, not particles.)"
                .to_owned(),
            measured: format!("cumulative regret less batch BORE's: {}", by_draws.measured),
            verdict: by_draws.fading,
        },
    ]
}

/// How a method compares with another as the dimension grows.
struct Trend {
    measured: String,
    /// Whether it is ahead in three dimensions.
    in_three: Verdict,
    /// Whether it is ahead in three dimensions and not in five.
    fading: Verdict,
}

impl Trend {
    fn new(settings: &Settings, data: &Data<'_>, method: &str, other: &str) -> Self {
        let compare = |name: &str| (name.to_owned(), data.compare(name, METRIC, method, other));
        let cases: Vec<(String, Option<Comparison>)> =
            settings.problems.iter().map(|subject| compare(&subject.name)).collect();
        let (measured, everywhere) = over_cases(settings, &cases, "on");
        let named = |name: &str| cases.iter().find(|(case, _)| case == name);
        let in_three = named("rosenbrock-3").map_or_else(
            || Verdict::Open("not run".to_owned()),
            |case| over_cases(settings, std::slice::from_ref(case), "on").1,
        );
        let ahead = |name| named(name).and_then(|(_, case)| Some(case.as_ref()?.is_ahead()));
        let fading = match (everywhere, ahead("rosenbrock-3"), ahead("rosenbrock-5")) {
            (Verdict::Open(why), ..) => Verdict::Open(why),
            (_, Some(true), Some(false)) => Verdict::Holds,
            (_, Some(_), Some(_)) => Verdict::DoesNotHold,
            _ => Verdict::Open("not run".to_owned()),
        };
        Self { measured, in_three, fading }
    }
}

/// A table of the share of points on a face of the box, and of the cumulative regret beside that of random search. Empty where the
/// records do not have them.
pub(crate) fn faces(settings: &Settings, records: &crate::record::Records) -> String {
    let data = Data { records };
    let average = |problem: &str, method: &str, metric: &str| {
        let trials = data.trials(problem, method);
        let values: Vec<f64> = trials.values().map(|trial| last(trial, metric)).collect();
        (!values.is_empty()).then(|| mean(&values)).filter(|mean| mean.is_finite())
    };
    let mut rows = String::new();
    for subject in &settings.problems {
        for method in &settings.methods {
            let of = |metric| average(&subject.name, &method.name, metric);
            let (Some(share), Some(regret)) = (of("on_a_face"), of(METRIC)) else { continue };
            let random = average(&subject.name, "random", METRIC);
            let ratio = random.map_or_else(|| "-".to_owned(), |random| short(regret / random));
            rows += &format!("| {} | {} | {share:.2} | {ratio} |\n", subject.name, method.title);
        }
    }
    if rows.is_empty() {
        return rows;
    }
    format!(
        "\n## Where the points lie\n\nThe share of points after the initial ones that have a coordinate at an end of its range, and the \
         cumulative regret as a multiple of random search's.\n\n\
         | problem | method | on a face | regret / that of random search |\n|---|---|---|---|\n{rows}\n\
         The box is [-5, 10] in each coordinate. Where one other than the last is at its upper end the function has values near 10⁶, \
         several times its mean over the box. A draw is never exactly on a face, so between particles and draws compare the \
         regrets, not the shares.\n"
    )
}
