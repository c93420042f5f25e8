//! What is minimised: a function with a known minimum, or a problem of Figure 3, made of other people's data.
//!
//! Regret is that of the true value, whatever noise a tool is told:
//!
//! ```text
//! function     f(x) - min f
//! racing line  lap time - best lap time known
//! FCNet        mean of the four trainings - least mean of the table; what is told is one of the four, at random
//! ```

use std::sync::Arc;

use wimble::space::{Configuration, SearchSpace};

use super::settings::{Settings, Subject};
use crate::benchmark::Benchmark;
use crate::data::Folder;
use crate::error::Result;
use crate::objective::{Noise, Objective, Observation};
use crate::paper::Figure;

/// The objective of this name: one of the comparison's, or any of `wimble-problems`.
pub fn named(name: &str, data: &Folder) -> Result<Arc<dyn Objective>> {
    let settings = Settings::published()?;
    match settings.problems.iter().find(|subject| subject.name == name) {
        Some(subject) => of(subject, data),
        None => known(name),
    }
}

/// The objective of a problem of the comparison; reads its data.
pub fn of(subject: &Subject, data: &Folder) -> Result<Arc<dyn Objective>> {
    let Some(wanted) = &subject.fig3 else { return known(&subject.name) };
    let figure = Figure::RealData.settings()?;
    Ok(Arc::new(TrueRegret(figure.problem(wanted)?.objective(0.0, data)?)))
}

/// The function of this name of `wimble-problems`.
pub fn known(name: &str) -> Result<Arc<dyn Objective>> {
    Ok(Arc::new(Benchmark::new(name, 0.0)?))
}

/// An objective with its true regret in the place of what it calls regret, and nothing beside it.
struct TrueRegret(Arc<dyn Objective>);

impl Objective for TrueRegret {
    fn space(&self) -> Result<SearchSpace> {
        self.0.space()
    }

    fn observe(&self, configuration: &Configuration, noise: Noise) -> Result<Observation> {
        let seen = self.0.observe(configuration, noise)?;
        let truth = seen.others.iter().find(|(name, _)| *name == "true_regret");
        let regret = truth.map_or(seen.regret, |(_, regret)| *regret);
        Ok(Observation { told: seen.told, regret, others: Vec::new() })
    }
}

#[cfg(test)]
mod tests {
    use wimble::seed::Seed;
    use wimble::space::Kind;

    use super::*;
    use crate::data::tests::real_data;

    #[test]
    fn a_problem_without_its_data_says_what_is_missing() {
        let Err(error) = named("fcnet-slice", &Folder::new("no-such-folder")) else {
            panic!("there is no such folder")
        };
        assert!(error.to_string().contains("slice_localization.csv.gz is not there"), "{error}");
    }

    #[test]
    fn the_real_problems_have_their_spaces_and_no_regret_is_negative() {
        let Some(folder) = real_data() else { return };
        for (name, dim, noisy) in [
            ("racing-uc-berkeley", 12, false),
            ("racing-eth-mobil", 20, false),
            ("fcnet-parkinsons", 9, true),
            ("fcnet-slice", 9, true),
        ] {
            let objective = named(name, &folder).unwrap();
            let space = objective.space().unwrap();
            assert_eq!(space.dimensions().len(), dim);
            let real = space.dimensions().iter().all(|side| matches!(side.kind, Kind::Real { .. }));
            assert_ne!(real, noisy);
            let configuration = space.decode(&space.sample(&mut Seed(0).stream("points", 0)));
            let observe = |number| {
                objective.observe(&configuration, Noise { seed: Seed(0), number }).unwrap()
            };
            let seen: Vec<Observation> = (0..20).map(observe).collect();
            assert!(seen.iter().all(|one| one.regret == seen[0].regret && one.regret > 0.0));
            assert_eq!(seen.iter().any(|one| one.told != seen[0].told), noisy);
            assert_eq!(observe(0), seen[0]);
        }
    }
}
