//! The paper's lemmas and theorems as tests, on a naive kernel least-squares estimate of their own.
//!
//! Statements that hold always are checked on every instance; statements that hold with probability 1 - δ
//! are checked as shares of runs. Seeds are fixed. `--nocapture` shows the measured figures.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "tests panic, and print what they measure"
)]

#[path = "theory/experiment.rs"]
mod experiment;
#[path = "theory/naive.rs"]
mod naive;

use experiment::{
    BOUNDED, DELTA, Instance, LARGE_RIDGE, PAPER, RIDGE, Round, Rule, Target, level, setting,
};
use naive::{
    Posterior, determinant, dot, for_kernels, gram, index_of_largest, largest, least_squares,
    normalised, smallest,
};
use wimble::internals::{below, normal, uniform, uniform_boundary};
use wimble::kernel::{Kernel, Profile};
use wimble::points::Points;
use wimble::seed::Seed;
use wimble::theory::{Certificate, Confidence, Form, InformationGain, Run, Setting};

// Lemmas

#[test]
fn lemma_1_the_largest_class_probability_is_at_the_least_value() {
    let gaussian = |gap: f64| normal::cumulative(gap / 0.5);
    let cauchy = |gap: f64| 0.5 + (gap / 0.5).atan() / std::f64::consts::PI;
    let distributions: [&dyn Fn(f64) -> f64; 2] = [&gaussian, &cauchy];
    for seed in 0..500 {
        let mut rng = Seed(seed).stream("lemma 1", 0);
        let values: Vec<f64> = (0..50).map(|_| 4.0 * uniform(&mut rng) - 2.0).collect();
        let threshold = 4.0 * uniform(&mut rng) - 2.0;
        let least = index_of_largest(&values.iter().map(|f| -f).collect::<Vec<_>>());
        for cumulative in distributions {
            let probabilities: Vec<f64> =
                values.iter().map(|f| cumulative(threshold - f)).collect();
            assert_eq!(index_of_largest(&probabilities), least);
        }
    }
}

#[test]
fn lemma_a1_information_gain_is_a_sum_of_marginal_gains() {
    for_kernels(|kernel, ridge, rng| {
        let points: Vec<f64> = (0..12).map(|_| uniform(rng)).collect();
        let mut gain = InformationGain::new(kernel.clone(), ridge).unwrap();
        let mut sum = 0.0;
        for &x in &points {
            let deviation = gain.deviation(&[x]).unwrap();
            sum += 0.5 * (1.0 + deviation * deviation / ridge).ln();
            gain.push(&[x]).unwrap();
        }
        let naive = 0.5 * determinant(&gram(kernel, &points, ridge), ridge).ln();
        assert!((gain.total() - naive).abs() < 1e-7 * (1.0 + naive), "{} {naive}", gain.total());
        assert!((sum - naive).abs() < 1e-7 * (1.0 + naive), "{sum} {naive}");
    });
}

#[test]
fn lemma_a2_the_sum_of_deviations_is_bounded_by_the_information_gain() {
    let mut printed_checked = 0;
    for_kernels(|kernel, ridge, rng| {
        let set: Vec<f64> = (0..40).map(|_| uniform(rng)).collect();
        let rows = Points::from_rows(1, set.iter().map(|&x| [x]));
        let n = 1 + below(rng, 30);
        let greedy = InformationGain::maximum(kernel, ridge, &rows, n).unwrap();
        let random: Vec<usize> = (0..n).map(|_| below(rng, set.len())).collect();
        let repeated = vec![0; n];
        for sequence in [&random, &greedy.chosen, &repeated] {
            let mut gain = InformationGain::new(kernel.clone(), ridge).unwrap();
            let mut sum = 0.0;
            for &i in sequence {
                sum += gain.deviation(&[set[i]]).unwrap();
                gain.push(&[set[i]]).unwrap();
            }
            let setting =
                Setting { ridge, output_scale: kernel.output_scale(), ..Setting::default() };
            let tight = setting.deviation_sum(n, gain.total());
            assert!(sum <= tight * (1.0 + 1e-9), "{sum} {tight}");
            assert!(gain.total() <= greedy.upper * (1.0 + 1e-9));
            if setting.printed_sum_follows(n) {
                printed_checked += 1;
                // The greedy gain is at most ξ_N, so this is no easier than the printed lemma.
                let printed = Setting::printed_deviation_sum(n, greedy.greedy.max(gain.total()));
                assert!(sum <= printed * (1.0 + 1e-9), "{sum} {printed}");
            }
        }
    });
    assert!(printed_checked > 100, "{printed_checked}");
}

/// The printed constant rests on λ = 1 + 2/N. With λ = 10 and points far apart, every σ is 1 and
/// ξ_N ≤ (N/2) ln(1 + 1/λ), so that the printed right side is less than half of the left.
#[test]
fn lemma_a2_as_printed_fails_for_a_large_ridge() {
    let (n, ridge) = (20, 10.0);
    let kernel = Kernel::isotropic(Profile::SquaredExponential, 1, 0.1, 1.0).unwrap();
    let far_apart = Points::from_rows(1, (0..n).map(|i| [i as f64]));
    let found = InformationGain::maximum(&kernel, ridge, &far_apart, n).unwrap();
    let mut gain = InformationGain::new(kernel, ridge).unwrap();
    let mut sum = 0.0;
    for x in far_apart.rows() {
        sum += gain.deviation(x).unwrap();
        gain.push(x).unwrap();
    }
    let printed = Setting::printed_deviation_sum(n, found.upper);
    println!("sum of deviations {sum:.2}, printed bound {printed:.2}");
    assert!(sum > 2.0 * printed, "{sum} {printed}");
    let setting = Setting { ridge, ..Setting::default() };
    assert!(!setting.printed_sum_follows(n));
    assert!(sum <= setting.deviation_sum(n, gain.total()) * (1.0 + 1e-9));
}

#[test]
fn lemma_a3_more_points_never_leave_a_larger_variance() {
    for_kernels(|kernel, ridge, rng| {
        let points: Vec<f64> = (0..10).map(|_| uniform(rng)).collect();
        let grid: Vec<f64> = (0..20).map(|_| uniform(rng)).collect();
        let few = 1 + below(rng, 9);
        // Labels do not matter for deviations.
        let some = least_squares(kernel, ridge, &points[..few], &vec![0.0; few], &grid);
        let all = least_squares(kernel, ridge, &points, &[0.0; 10], &grid);
        for ((_, more), (_, fewer)) in all.iter().zip(&some) {
            assert!(more * more <= fewer * fewer + 1e-9, "{more} {fewer}");
        }
    });
}

// Theorems 1 to 3

#[test]
fn theorem_1_the_confidence_band_covers_at_all_points_and_rounds() {
    let runs = 150;
    for label_noise in [PAPER, BOUNDED] {
        let mut covered = 0;
        let mut narrow_covered = 0;
        let mut used = 0.0_f64;
        for seed in 0..runs {
            let mut rng = Seed(seed).stream("theorem 1", 0);
            let instance = Instance::draw(&mut rng, [0.1, 0.3][seed as usize % 2], RIDGE);
            let history = instance.run(Rule::BorePlus, label_noise, 30, &mut rng);
            let worst = |width: &dyn Fn(&Round) -> f64| {
                let mut worst = 0.0_f64;
                for round in &history {
                    for ((mean, deviation), truth) in round.fit.iter().zip(&instance.probability) {
                        worst = worst.max((truth - mean).abs() / (width(round) * deviation));
                    }
                }
                worst
            };
            let ratio = worst(&|round| round.width);
            used = used.max(ratio);
            covered += usize::from(ratio <= 1.0);
            narrow_covered += usize::from(worst(&|_| 1.0) <= 1.0);
        }
        let share = covered as f64 / runs as f64;
        let narrow = narrow_covered as f64 / runs as f64;
        println!(
            "R = {label_noise}: covered in {share:.3} of {runs} runs, {used:.3} of the width used at \
             most; a width of 1 covers {narrow:.3}"
        );
        assert!(share >= 1.0 - DELTA);
        // The check can fail: a width below that of the theorem does not cover.
        assert!(narrow < 0.5);
    }
}

/// Theorem 1 for the integrated target. The true m = Σ αᵢ k(·, xᵢ) has norm 1 and values in (0, B); targets are the
/// noisiest with that mean, B with probability m/B and 0 otherwise, or those of a value y = τ - m(x) + uniform noise.
#[test]
fn theorem_1_for_all_thresholds_at_once_covers_at_all_points_and_rounds() {
    let (runs, rounds) = (150, 30);
    for extreme in [true, false] {
        let (mut covered, mut narrow_covered, mut used) = (0, 0, 0.0_f64);
        for seed in 0..runs {
            let mut rng = Seed(seed).stream("integrated", 0);
            let instance = Instance::draw(&mut rng, [0.1, 0.3][seed as usize % 2], RIDGE);
            let truth = &instance.probability;
            let range = 1.2 * largest(truth);
            let mut posterior = Posterior::new(&instance.kernel, RIDGE, &instance.domain);
            let (mut ratio, mut narrow) = (0.0_f64, 0.0_f64);
            for _ in 0..rounds {
                let gain = posterior.information_gain;
                let width = level(1.0).width(0.5 * range, RIDGE, gain).unwrap();
                let fit = posterior.fit();
                for ((mean, deviation), truth) in fit.iter().zip(truth) {
                    let error = (truth - mean).abs() / deviation;
                    ratio = ratio.max(error / width);
                    narrow = narrow.max(error);
                }
                let bounds: Vec<f64> = fit.iter().map(|(mean, dev)| mean + width * dev).collect();
                let chosen = index_of_largest(&bounds);
                let (mean, u) = (truth[chosen], uniform(&mut rng));
                let target = if extreme {
                    if u < mean / range { range } else { 0.0 }
                } else {
                    // τ = 0 and y = -m + noise, so small that 0 ≤ τ - y ≤ B without clipping.
                    let value = -mean + mean.min(range - mean) * (2.0 * u - 1.0);
                    (-value).clamp(0.0, range)
                };
                posterior.observe(chosen, target);
            }
            used = used.max(ratio);
            covered += usize::from(ratio <= 1.0);
            narrow_covered += usize::from(narrow <= 1.0);
        }
        let share = covered as f64 / runs as f64;
        let narrow = narrow_covered as f64 / runs as f64;
        println!(
            "extreme targets {extreme}: covered in {share:.3} of {runs} runs, {used:.3} of the width used \
             at most; a width of 1 covers {narrow:.3}"
        );
        assert!(share >= 1.0 - DELTA);
        // The check can fail: the norm alone, without the term for the noise, does not cover.
        assert!(!extreme || narrow < 0.5);
    }
}

#[test]
fn theorem_2_bore_s_regret_is_below_its_bounds() {
    check_sequential(Rule::Bore);
}

#[test]
fn theorem_3_bore_plus_plus_s_regret_is_below_its_bounds() {
    check_sequential(Rule::BorePlus);
}

/// The paper's experiment, and one with a large ridge, long enough for the bounds to say something.
fn check_sequential(rule: Rule) {
    for label_noise in [PAPER, BOUNDED] {
        check_runs(rule, label_noise, RIDGE, 0.1, 30);
        check_runs(rule, label_noise, RIDGE, 0.3, 30);
        check_runs(rule, label_noise, LARGE_RIDGE, 0.3, 300);
    }
}

/// Instant and cumulative regret against both forms of their bounds.
fn check_runs(rule: Rule, label_noise: f64, ridge: f64, length_scale: f64, rounds: usize) {
    let runs = 40;
    let mut held = 0;
    let mut informative = 0;
    let mut closest = 0.0_f64;
    let mut ratio_of_forms = 0.0;
    for seed in 0..runs {
        let mut rng = Seed(seed).stream("theorems 2 and 3", 0);
        let instance = Instance::draw(&mut rng, length_scale, ridge);
        let history = instance.run(rule, label_noise, rounds, &mut rng);
        let optimum = index_of_largest(&instance.probability);
        let forms = [Form::Paper, Form::Tight];
        let forms = forms.map(|form| instance.bounds(rule, label_noise, form));
        let mut holds = true;
        let mut cumulative = 0.0;
        let mut optimum_deviations = 0.0;
        for round in &history {
            let regret = instance.objective[round.chosen] - instance.objective[optimum];
            cumulative += regret;
            let (chosen, at_optimum) = (round.fit[round.chosen].1, round.fit[optimum].1);
            optimum_deviations += at_optimum;
            let gain = round.information_gain;
            let [paper, tight] = forms.map(|bounds| match rule {
                Rule::Bore => bounds.bore_instant(gain, chosen, at_optimum).unwrap(),
                _ => bounds.bore_plus_instant(gain, chosen).unwrap(),
            });
            assert!(paper.standing.is_proven() && tight.standing.is_proven());
            assert!(tight.value <= paper.value);
            holds &= regret <= tight.value * (1.0 + 1e-12);
            informative += usize::from(tight.is_informative());
            closest = closest.max(regret / tight.value);
        }
        let rows = instance.rows();
        let most = InformationGain::maximum(&instance.kernel, ridge, &rows, rounds).unwrap();
        let run = Run {
            max_information_gain: Some(most.upper),
            ..Run::new(rounds, instance.gain_of(&history))
        };
        let [paper, tight] = forms.map(|bounds| match rule {
            Rule::Bore => bounds.bore_cumulative(&run, optimum_deviations).unwrap(),
            _ => bounds.bore_plus_cumulative(&run).unwrap(),
        });
        assert!(tight.value <= paper.value);
        holds &= cumulative <= tight.value * (1.0 + 1e-12);
        closest = closest.max(cumulative / tight.value);
        ratio_of_forms += tight.value / paper.value / runs as f64;
        held += usize::from(holds);
    }
    let share = held as f64 / runs as f64;
    let informative = informative as f64 / (runs as usize * rounds) as f64;
    println!(
        "{rule:?}, R = {label_noise}, ridge {ridge}, length scale {length_scale}, {rounds} rounds: held \
         in {share:.3} of {runs} runs; {informative:.3} of the instant bounds informative; regret at \
         most {closest:.3} of a bound; cumulative tight/paper {ratio_of_forms:.3}"
    );
    assert!(share >= 1.0 - DELTA);
}

// Theorem 4

#[test]
fn theorem_4_holds_by_total_variation_on_random_instances() {
    let mut rng = Seed(4).stream("theorem 4", 0);
    for _ in 0..5_000 {
        let instance = Target::draw(&mut rng);
        let Target { truth, upper, lower, objective, half_width } = &instance;
        let (p, l) = (normalised(upper), normalised(truth));
        let regret = dot(&p, objective) - dot(&l, objective);
        let variation = 0.5 * p.iter().zip(&l).map(|(p, l)| (p - l).abs()).sum::<f64>();
        let spread = largest(objective) - smallest(objective);
        let lipschitz = instance.noise_lipschitz();
        let inverse = 1.0 / smallest(truth);
        let slack = 1e-12;

        assert!(regret <= spread * variation + slack);
        assert!(spread <= lipschitz * (largest(truth) - smallest(truth)) + slack);
        let (upper_mass, mass) = (upper.iter().sum::<f64>(), truth.iter().sum::<f64>());
        let by_masses = (upper_mass - mass) / upper_mass;
        assert!(variation <= by_masses + slack);
        // β E_p[σ], the product being what was drawn.
        let expected = dot(&p, half_width);
        assert!(by_masses <= 2.0 * inverse * expected + slack);
        assert!(regret <= lipschitz * 2.0 * inverse * expected + slack);

        for form in [Form::Paper, Form::Tight] {
            // A fixed width of 1 makes the bound that of β E_p[σ].
            let bounds = Setting {
                form,
                confidence: Confidence::Width(1.0),
                noise_lipschitz: Some(lipschitz),
                inverse_probability: Some(inverse),
                ..setting(Rule::Batch(1), RIDGE, PAPER)
            };
            let bound = bounds.batch_instant(0.0, expected).unwrap();
            assert!(regret <= bound.value + slack);
            let certificate = Certificate::exact(&bounds, lower, upper).unwrap();
            assert!(regret <= certificate.bound.value + slack);
            assert!(variation <= certificate.total_variation + slack);
        }
    }
}

/// E_p[f] - E_ℓ[f] ≤ L_ε (E_ℓ[π] - E_p[π]) fails even with the least L_ε there is: the printed proof does not
/// give the theorem, although the theorem holds.
#[test]
fn theorem_4_s_printed_first_line_fails_on_a_share_of_random_instances() {
    let mut rng = Seed(5).stream("theorem 4", 1);
    let instances = 20_000;
    let mut failed = 0;
    for _ in 0..instances {
        let instance = Target::draw(&mut rng);
        let (p, l) = (normalised(&instance.upper), normalised(&instance.truth));
        let regret = dot(&p, &instance.objective) - dot(&l, &instance.objective);
        let gap = dot(&l, &instance.truth) - dot(&p, &instance.truth);
        failed += usize::from(regret > instance.noise_lipschitz() * gap + 1e-12);
    }
    let share = failed as f64 / instances as f64;
    println!("the printed first line fails on {:.1} % of {instances} instances", 100.0 * share);
    // Five binomial standard errors around the 3.7 % first measured.
    assert!((0.030..0.044).contains(&share), "{share}");
}

#[test]
fn theorem_4_batch_bore_plus_plus_s_regret_is_below_its_bounds_and_certificates() {
    check_batches(PAPER, RIDGE, 8, 5);
    check_batches(BOUNDED, RIDGE, 8, 5);
    check_batches(BOUNDED, LARGE_RIDGE, 40, 10);
}

fn check_batches(label_noise: f64, ridge: f64, rounds: usize, batch_size: usize) {
    let (runs, sampling) = (40, 0.1);
    let mut held = 0;
    let mut sums_held = 0;
    let mut closest = [0.0_f64; 3];
    let mut certified = 0.0;
    for seed in 0..runs {
        let mut rng = Seed(seed).stream("theorem 4 runs", 0);
        let instance = Instance::draw(&mut rng, 0.3, ridge);
        let history = instance.run(Rule::Batch(batch_size), label_noise, rounds, &mut rng);
        let bounds = instance.bounds(Rule::Batch(batch_size), label_noise, Form::Tight);
        let l = normalised(&instance.probability);
        let mut holds = true;
        let (mut cumulative, mut expected_sum, mut drawn_sum) = (0.0, 0.0, 0.0);
        let (mut round, mut sums_hold) = (0, true);
        for batch in history.chunks(batch_size) {
            let first = &batch[0];
            let (lower, upper) = first.band();
            let deviations: Vec<f64> = first.fit.iter().map(|fit| fit.1).collect();
            let p = normalised(&upper);
            let regret = dot(&p, &instance.objective) - dot(&l, &instance.objective);
            let expected = dot(&p, &deviations);
            let drawn: f64 = batch.iter().map(|point| deviations[point.chosen]).sum();
            cumulative += regret;
            expected_sum += expected;
            drawn_sum += drawn / batch_size as f64;
            // What the tighter form rests on, at every round: deviations drawn against deviations expected.
            round += 1;
            let term = uniform_boundary(0.25 / batch_size as f64, round, sampling);
            sums_hold &= expected_sum <= drawn_sum + term;
            let instant = bounds.batch_instant(first.information_gain, expected).unwrap();
            let certificate = Certificate::exact(&bounds, &lower, &upper).unwrap();
            assert!(instant.standing.is_proven() && certificate.bound.standing.is_proven());
            holds &= regret <= instant.value && regret <= certificate.bound.value;
            certified += certificate.bound.value / certificate.bound.trivial;
            closest[0] = closest[0].max(regret / instant.value);
            closest[1] = closest[1].max(regret / certificate.bound.value);
        }
        let rows = instance.rows();
        let most = InformationGain::maximum(&instance.kernel, ridge, &rows, rounds).unwrap();
        let run = Run {
            max_information_gain: Some(most.upper),
            sampling_failure_probability: sampling,
            ..Run::new(rounds, instance.gain_of(&history))
        };
        let bound = bounds.batch_cumulative(&run).unwrap();
        assert!(bound.standing.is_proven());
        holds &= cumulative <= bound.value;
        closest[2] = closest[2].max(cumulative / bound.value);
        held += usize::from(holds);
        sums_held += usize::from(sums_hold);
        assert!(drawn_sum <= bounds.deviation_sum(rounds, most.upper));
    }
    let share = held as f64 / runs as f64;
    let sums = sums_held as f64 / runs as f64;
    println!(
        "batch, R = {label_noise}, ridge {ridge}, {rounds} rounds of {batch_size}: held in {share:.3} of \
             {runs} runs, sums in {sums:.3}; regret at most {:.3} of the instant bound, {:.3} of the \
             certificate, {:.3} of the cumulative bound; certificate/trivial {:.3} on average",
        closest[0],
        closest[1],
        closest[2],
        certified / (runs as usize * rounds) as f64
    );
    assert!(share >= 1.0 - DELTA - sampling);
    assert!(sums >= 1.0 - sampling);
}

// The estimate the runs rest on

#[test]
fn the_posterior_of_the_runs_is_that_of_equation_13() {
    for_kernels(|kernel, ridge, rng| {
        let domain: Vec<f64> = (0..15).map(|_| uniform(rng)).collect();
        let mut posterior = Posterior::new(kernel, ridge, &domain);
        let mut gain = InformationGain::new(kernel.clone(), ridge).unwrap();
        let (mut points, mut labels) = (Vec::new(), Vec::new());
        for _ in 0..20 {
            let (index, label) = (below(rng, 15), f64::from(u8::from(uniform(rng) < 0.5)));
            posterior.observe(index, label);
            gain.push(&[domain[index]]).unwrap();
            points.push(domain[index]);
            labels.push(label);
        }
        assert!((posterior.information_gain - gain.total()).abs() < 1e-8);
        let naive = least_squares(kernel, ridge, &points, &labels, &domain);
        for (fast, naive) in posterior.fit().iter().zip(&naive) {
            assert!((fast.0 - naive.0).abs() < 1e-7, "{fast:?} {naive:?}");
            assert!((fast.1.powi(2) - naive.1.powi(2)).abs() < 1e-7, "{fast:?} {naive:?}");
        }
    });
}
