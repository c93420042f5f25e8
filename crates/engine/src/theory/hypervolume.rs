//! The hypervolume regret of BORE++ with several objectives (guide, "Theorem 5").
//!
//! Each objective i has a class probability π_i(x) = Φ_i(τ_i - f_i(x)), its own labels and its own band [l_i, u_i] of Theorem 1 with δ/k. The
//! hypervolume of a set of configurations is the volume of { z in [0, 1]^k : z ≤ π(x) for some x in it }; more is better, and
//! the front is that of f, as π_i falls strictly with f_i. The rule goes where the optimistic corner u(x) adds most to what the pessimistic
//! corners of the earlier points cover,
//!
//! ```text
//! x_t = argmax over x of  hv(C_{t-1} + {u_{t-1}(x)}) - hv(C_{t-1}),     C_t = C_{t-1} + {l_{t-1}(x_t)}.
//! ```
//!
//! With probability at least 1 - δ, for all T and all K at once, HV_K being the largest hypervolume of any K configurations,
//!
//! ```text
//! HV_K - hv(x_1, ..., x_T) ≤ (K/T) (1 + 2 Σ_i Σ_t β_{i,t-1} σ_{i,t-1}(x_t)) ≤ (K/T) (1 + 2 Σ_i β_{i,T} √(2 T s γ_{i,T} / ln(1 + s/λ)))
//! ```
//!
//! Cost: O(k) a bound.

use crate::error::{Error, Result};

use super::bound::{Assumption, Bound, Subject};
use super::confidence::{Confidence, check_not_negative};
use super::setting::{Choice, Setting};
use super::standing::{Reason, Standing};

impl Setting {
    /// Theorem 5 from what was observed: HV_K - hv(x_1, ..., x_T) ≤ (K/T) (1 + 2 Σ_i Σ_t β_{i,t-1} σ_{i,t-1}(x_t)). It fails with probability at
    /// most the sum of the δ_i; [`Confidence::shared_by`] makes δ/k of a δ.
    ///
    /// - `objectives`: a setting for each of the k objectives.
    /// - `compared`: K, how many configurations the run is compared with, at least 1.
    /// - `rounds`: T, at least 1.
    /// - `spread`: Σ_i Σ_t β_{i,t-1} σ_{i,t-1}(x_t), the half widths of the bands at the points that were chosen, not negative.
    ///
    /// ```
    /// use wimble::theory::{Confidence, Setting};
    ///
    /// let confidence = Confidence::Level { failure_probability: 0.1, norm_bound: 1.0 }.shared_by(2);
    /// let objectives = [Setting { confidence, ..Setting::default() }; 2];
    /// let bound = Setting::hypervolume(&objectives, 3, 200, 20.0)?;
    /// assert!((bound.value - 3.0 / 200.0 * (1.0 + 2.0 * 20.0)).abs() < 1e-12);
    /// assert_eq!(bound.failure_probability, Some(0.1));
    /// # Ok::<(), wimble::Error>(())
    /// ```
    ///
    /// # Errors
    /// If there is no objective, or a number is out of range.
    pub fn hypervolume(
        objectives: &[Self],
        compared: usize,
        rounds: usize,
        spread: f64,
    ) -> Result<Bound> {
        let counts = [
            ("number of objectives", objectives.len()),
            ("number of configurations compared", compared),
            ("number of rounds", rounds),
        ];
        for (field, count) in counts {
            if count == 0 {
                return Err(Error::invalid(field, count, "at least 1"));
            }
        }
        check_not_negative("sum of deviations", spread)?;
        let subject = Subject::Hypervolume { rounds };
        let (mut reasons, mut assumptions) = (Vec::<Reason>::new(), Vec::new());
        let mut failure = Some(0.0);
        for setting in objectives {
            setting.check()?;
            reasons.extend(setting.tight_standing(subject).reasons());
            if let Confidence::Level { norm_bound, .. } = setting.confidence {
                assumptions.push(Assumption::NormBound(norm_bound));
            }
            let own = setting.confidence.failure_probability();
            failure = failure.zip(own).map(|(sum, own): (f64, f64)| (sum + own).min(1.0));
        }
        assumptions.extend(objectives[0].fixed_beforehand());
        if objectives[0].choice == Choice::Maximum {
            assumptions.push(Assumption::ExactMaximum);
        }
        Ok(Bound {
            subject,
            // All hypervolumes lie in [0, 1].
            value: (compared as f64 / rounds as f64 * (1.0 + 2.0 * spread)).min(1.0),
            trivial: 1.0,
            failure_probability: failure,
            standing: Standing::of(reasons),
            assumptions,
        })
    }

    /// Theorem 5 from information gains alone: (K/T) (1 + 2 Σ_i β_{i,T} √(2 T s γ_{i,T} / ln(1 + s/λ))), which is known before the run
    /// where the gains are bounded beforehand.
    ///
    /// - `objectives`: for each objective its setting, and γ_{i,T} of the points of the run or an upper bound of it.
    /// - `compared`, `rounds`: K and T, as for [`hypervolume`](Self::hypervolume).
    ///
    /// ```
    /// use wimble::theory::{Confidence, Setting};
    ///
    /// let confidence = Confidence::Level { failure_probability: 0.05, norm_bound: 1.0 };
    /// let setting = Setting { confidence, ridge: 1.0, label_noise: 0.5, ..Setting::default() };
    /// let bound = Setting::hypervolume_by_gain(&[(setting, 8.0), (setting, 8.0)], 2, 1_000_000)?;
    /// assert!(bound.is_informative());
    /// # Ok::<(), wimble::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`hypervolume`](Self::hypervolume).
    pub fn hypervolume_by_gain(
        objectives: &[(Self, f64)],
        compared: usize,
        rounds: usize,
    ) -> Result<Bound> {
        let mut spread = 0.0;
        for (setting, gain) in objectives {
            spread += setting.width(*gain)? * setting.deviation_sum(rounds, *gain);
        }
        let settings: Vec<Self> = objectives.iter().map(|(setting, _)| *setting).collect();
        Self::hypervolume(&settings, compared, rounds, spread)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::kernel::{Kernel, Profile};
    use crate::pareto::{Boxes, hypervolume};
    use crate::points::Points;
    use crate::seed::{Rng, Seed, uniform};
    use crate::theory::InformationGain;

    const DOMAIN: usize = 24;
    const RIDGE: f64 = 1.0;
    const DELTA: f64 = 0.1;

    /// One of two objectives, with δ/2 and this norm.
    fn setting(norm_bound: f64) -> Setting {
        let confidence = Confidence::Level { failure_probability: DELTA, norm_bound };
        Setting {
            confidence: confidence.shared_by(2),
            ridge: RIDGE,
            label_noise: 0.5,
            ..Setting::default()
        }
    }

    /// The volume that corners p in [0, 1]^k cover from the origin: that of 1 - p below 1.
    fn covered(corners: &Points) -> f64 {
        let turned = Points::from_rows(corners.dim(), corners.rows().map(turn));
        let mut rng = Seed(0).stream("covered", 0);
        hypervolume(&turned, &vec![1.0; corners.dim()], &mut rng).unwrap().value
    }

    fn turn(corner: &[f64]) -> Vec<f64> {
        corner.iter().map(|p| 1.0 - p).collect()
    }

    /// A class probability in [0, 1] with kernel norm at most `norm`, at the points of the domain.
    fn probability(kernel: &Kernel, rng: &mut Rng) -> (Vec<f64>, f64) {
        loop {
            let centres: Vec<(f64, f64)> =
                (0..4).map(|_| (uniform(rng), 1.6 * uniform(rng) - 0.5)).collect();
            let at =
                |x: f64| centres.iter().map(|(c, a)| a * kernel.value(&[*c], &[x])).sum::<f64>();
            let values: Vec<f64> = (0..DOMAIN).map(|i| at(i as f64 / DOMAIN as f64)).collect();
            if values.iter().all(|p| (0.0..=1.0).contains(p)) {
                let square: f64 = centres.iter().map(|(c, a)| a * at(*c)).sum();
                return (values, square.sqrt());
            }
        }
    }

    /// Mean and deviation of least squares on observed labels at every point of the domain, by elimination.
    fn fit(kernel: &Kernel, chosen: &[usize], labels: &[f64]) -> Vec<(f64, f64)> {
        let at = |i: usize| [i as f64 / DOMAIN as f64];
        let points: Vec<[f64; 1]> = chosen.iter().map(|&i| at(i)).collect();
        let posterior = crate::linalg::Cholesky::default()
            .extend(chosen.len(), |i, row| {
                for (entry, point) in row.iter_mut().zip(&points[..=i]) {
                    *entry = kernel.value(&points[i], point);
                }
                row[i] += RIDGE;
            })
            .unwrap();
        (0..DOMAIN)
            .map(|i| {
                let row: Vec<f64> = points.iter().map(|p| kernel.value(p, &at(i))).collect();
                let mut solved = row.clone();
                posterior.solve(&mut solved);
                let mean = solved.iter().zip(labels).map(|(a, z)| a * z).sum::<f64>();
                let explained: f64 = solved.iter().zip(&row).map(|(a, k)| a * k).sum();
                (mean, (1.0 - explained).max(0.0).sqrt())
            })
            .collect()
    }

    /// What a run of the rule shows: whether all bands held, its regret against the K best, and the two bounds.
    struct Outcome {
        held: bool,
        /// Whether both steps of the proof held in every round.
        steps: bool,
        regret: f64,
        observed: f64,
        by_gain: f64,
    }

    fn run(seed: u64, rounds: usize) -> Outcome {
        let kernel = Kernel::isotropic(Profile::SquaredExponential, 1, 0.3, 1.0).unwrap();
        let mut rng = Seed(seed).stream("theorem 5", 0);
        let truths: Vec<(Vec<f64>, f64)> = (0..2).map(|_| probability(&kernel, &mut rng)).collect();
        let (mut chosen, mut labels) = (Vec::new(), [Vec::new(), Vec::new()]);
        let mut gain = InformationGain::new(kernel.clone(), RIDGE).unwrap();
        let mut corners = Points::new(2);
        let value = |x: usize| [truths[0].0[x], truths[1].0[x]];
        // The whole front: K is its length, and HV_K the hypervolume of everything.
        let all = Points::from_rows(2, (0..DOMAIN).map(value));
        let turned = Points::from_rows(2, all.rows().map(turn));
        let front = crate::pareto::front(&turned).unwrap().len();
        let (mut held, mut spread, mut steps) = (true, 0.0, true);
        for _ in 0..rounds {
            let bands: Vec<(Vec<(f64, f64)>, f64)> = (0..2)
                .map(|i| {
                    let width = setting(truths[i].1).width(gain.total()).unwrap();
                    (fit(&kernel, &chosen, &labels[i]), width)
                })
                .collect();
            let corner = |x: usize, sign: f64| -> Vec<f64> {
                let end = |(fit, width): &(Vec<(f64, f64)>, f64)| {
                    (fit[x].0 + sign * width * fit[x].1).clamp(0.0, 1.0)
                };
                bands.iter().map(end).collect()
            };
            for (x, i) in (0..DOMAIN).flat_map(|x| (0..2).map(move |i| (x, i))) {
                held &= corner(x, -1.0)[i] <= truths[i].0[x] + 1e-12;
                held &= truths[i].0[x] <= corner(x, 1.0)[i] + 1e-12;
            }
            let turned = Points::from_rows(2, corners.rows().map(turn));
            let boxes = Boxes::new(&turned, &[1.0, 1.0]).unwrap();
            let gains: Vec<f64> = (0..DOMAIN).map(|x| boxes.gain(&turn(&corner(x, 1.0)))).collect();
            let best = (0..DOMAIN).max_by(|&a, &b| gains[a].total_cmp(&gains[b]).then(b.cmp(&a)));
            let x = best.unwrap();
            let half = bands.iter().map(|(fit, width)| width * fit[x].1).sum::<f64>();
            spread += half;
            // The two steps of the proof: the best gain is a K-th of what is missing, and the corner keeps most of it.
            let before = covered(&corners);
            steps &= !held || covered(&all) - before <= front as f64 * gains[x] + 1e-9;
            corners.push(&corner(x, -1.0));
            steps &= covered(&corners) - before >= gains[x] - 2.0 * half - 1e-9;
            for (labels, truth) in labels.iter_mut().zip(&truths) {
                labels.push(f64::from(u8::from(uniform(&mut rng) < truth.0[x])));
            }
            chosen.push(x);
            gain.push(&[x as f64 / DOMAIN as f64]).unwrap();
        }
        let reached = covered(&Points::from_rows(2, chosen.iter().map(|&x| value(x))));
        let objectives = [0, 1].map(|i: usize| (setting(truths[i].1), gain.total()));
        let settings = objectives.map(|(setting, _)| setting);
        let observed = Setting::hypervolume(&settings, front, rounds, spread).unwrap();
        assert!(observed.is_proven(), "{observed}");
        Outcome {
            held,
            steps,
            regret: covered(&all) - reached,
            observed: observed.value,
            by_gain: Setting::hypervolume_by_gain(&objectives, front, rounds).unwrap().value,
        }
    }

    #[test]
    fn the_bound_holds_wherever_the_bands_do_and_they_do_often_enough() {
        let runs: Vec<Outcome> = (0..60).map(|seed| run(seed, 60)).collect();
        for Outcome { held, steps, regret, observed, by_gain } in &runs {
            assert!(steps, "a step of the proof");
            assert!(!held || regret <= &(observed + 1e-9), "{regret} {observed}");
            assert!(observed <= by_gain, "{observed} {by_gain}");
        }
        let missed = runs.iter().filter(|run| run.regret > run.observed).count();
        assert!(missed as f64 <= DELTA * runs.len() as f64, "{missed}");
        let held = runs.iter().filter(|run| run.held).count();
        assert!(held as f64 >= (1.0 - DELTA) * runs.len() as f64, "{held}");
    }

    #[test]
    fn the_bound_comes_below_what_holds_without_data() {
        let long = run(3, 200);
        assert!(!long.held || long.regret <= long.observed, "{} {}", long.regret, long.observed);
        let bound = |rounds: usize| {
            // A gain that grows as ln² T, as that of a squared exponential in one dimension.
            let gain = 0.5 * (rounds as f64).ln().powi(2);
            Setting::hypervolume_by_gain(&[(setting(1.0), gain); 2], 5, rounds).unwrap().value
        };
        assert!(bound(100_000_000) < 0.5 && bound(10_000_000_000) < bound(100_000_000));
        assert_eq!(bound(10), 1.0);
    }

    proptest! {
        /// The step of the proof that is not a triangle inequality: what a corner adds changes by at most the sum of its changes.
        #[test]
        fn a_gain_changes_by_at_most_the_sum_of_the_changes_of_the_corner(
            corners in prop::collection::vec(prop::collection::vec(0.0..1.0_f64, 3), 0..8),
            low in prop::collection::vec(0.0..1.0_f64, 3),
            rise in prop::collection::vec(0.0..1.0_f64, 3),
        ) {
            let high: Vec<f64> = low.iter().zip(&rise).map(|(l, r)| l + r * (1.0 - l)).collect();
            let turned = Points::from_rows(3, corners.iter().map(|corner| turn(corner)));
            let boxes = Boxes::new(&turned, &[1.0; 3]).unwrap();
            let difference = boxes.gain(&turn(&high)) - boxes.gain(&turn(&low));
            let sum: f64 = high.iter().zip(&low).map(|(h, l)| h - l).sum();
            prop_assert!((-1e-12..=sum + 1e-12).contains(&difference), "{} {}", difference, sum);
        }
    }

    #[test]
    fn numbers_out_of_range_are_refused() {
        let one = [setting(1.0)];
        assert!(Setting::hypervolume(&one, 0, 5, 1.0).is_err());
        assert!(Setting::hypervolume(&one, 1, 0, 1.0).is_err());
        assert!(Setting::hypervolume(&one, 1, 5, f64::NAN).is_err());
        assert!(Setting::hypervolume(&[], 1, 5, 1.0).is_err());
        assert!(Setting::hypervolume_by_gain(&[(one[0], -1.0)], 1, 5).is_err());
    }

    #[test]
    fn what_one_objective_lacks_the_bound_lacks() {
        let moving = Setting { thresholds: None, ..setting(1.0) };
        let bound = Setting::hypervolume(&[setting(1.0), moving], 2, 9, 0.5).unwrap();
        assert_eq!(bound.standing.reasons(), [Reason::MovingThreshold]);
        let fixed = Setting { confidence: Confidence::Width(1.0), ..setting(1.0) };
        let bound = Setting::hypervolume(&[setting(1.0), fixed], 2, 9, 0.5).unwrap();
        assert_eq!(bound.failure_probability, None);
        let both = Setting::hypervolume(&[setting(1.0); 2], 2, 9, 0.5).unwrap();
        assert_eq!(both.failure_probability, Some(DELTA));
        assert!(both.assumptions.contains(&Assumption::ExactMaximum));
        let searched = Setting { choice: Choice::ApproximateMaximum, ..setting(1.0) };
        let searched = Setting::hypervolume(&[searched], 2, 9, 0.5).unwrap();
        assert!(!searched.assumptions.contains(&Assumption::ExactMaximum));
    }
}
