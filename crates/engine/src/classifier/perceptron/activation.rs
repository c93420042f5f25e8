//! Activation functions of the hidden units, in f32 and in a form that compilers vectorise.
//!
//! Each is given by its value and by its slope *as a function of that value*, so that a backward pass needs
//! the activations alone. All map 0 to 0: the unused lanes of a panel stay zero.
//!
//! The exponential is 2ⁿ eʳ with n = round(x / ln 2) and |r| ≤ ln 2 / 2, where eʳ - 1 is its Taylor series to
//! r⁷ (truncation error 5e-9). Working with eʳ - 1 keeps ELU and tanh accurate near zero.

use serde::{Deserialize, Serialize};

use super::kernels::Lanes;

/// What a hidden unit does to its weighted sum.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Activation {
    /// max(x, 0): the paper's choice for most problems.
    #[default]
    Relu,
    /// x where positive, eˣ - 1 elsewhere: the paper's choice for Six-hump Camel and Hartmann 3D.
    Elu,
    /// The hyperbolic tangent.
    Tanh,
}

/// An [`Activation`] as a type, so that the kernels are compiled for each.
pub(super) trait Nonlinearity: Copy {
    /// The activations of weighted sums. NaN gives NaN, so that it is found after training.
    fn value<L: Lanes>(sum: L) -> L;
    /// The derivative of the activation in the sum, where the activation is `value`.
    fn slope<L: Lanes>(value: L) -> L;
}

#[derive(Clone, Copy)]
pub(super) struct Relu;
#[derive(Clone, Copy)]
pub(super) struct Elu;
#[derive(Clone, Copy)]
pub(super) struct Tanh;

impl Nonlinearity for Relu {
    #[inline(always)]
    fn value<L: Lanes>(sum: L) -> L {
        L::splat(0.0).max(sum)
    }
    #[inline(always)]
    fn slope<L: Lanes>(value: L) -> L {
        value.if_positive(L::splat(1.0), L::splat(0.0))
    }
}

impl Nonlinearity for Elu {
    #[inline(always)]
    fn value<L: Lanes>(sum: L) -> L {
        sum.if_positive(sum, Exponential::of(sum).minus_one())
    }
    #[inline(always)]
    fn slope<L: Lanes>(value: L) -> L {
        let one = L::splat(1.0);
        value.if_positive(one, value.add(one))
    }
}

impl Nonlinearity for Tanh {
    #[inline(always)]
    fn value<L: Lanes>(sum: L) -> L {
        // tanh |x| = -t / (t + 2) with t = e^(-2|x|) - 1.
        let negated = L::splat(0.0).sub(sum);
        let t = Exponential::of(sum.min(negated).mul(L::splat(2.0))).minus_one();
        let below_zero = t.div(t.add(L::splat(2.0)));
        sum.if_positive(L::splat(0.0).sub(below_zero), below_zero)
    }
    #[inline(always)]
    fn slope<L: Lanes>(value: L) -> L {
        L::splat(0.0).sub(value).mul_add(value, L::splat(1.0))
    }
}

/// 1 / (1 + e⁻ˡ), the probability of a logit.
#[inline(always)]
pub(super) fn sigmoid<L: Lanes>(logit: L) -> L {
    let one = L::splat(1.0);
    one.div(Exponential::of(L::splat(0.0).sub(logit)).value().add(one))
}

/// eˣ = scale · (1 + fraction), for x clamped to where the result is a normal f32.
struct Exponential<L> {
    scale: L,
    fraction: L,
}

impl<L: Lanes> Exponential<L> {
    #[inline(always)]
    fn of(x: L) -> Self {
        // Adding 1.5 · 2²³ rounds to a whole number and leaves it in the low bits.
        const ROUND: f32 = 12_582_912.0;
        // ln 2 in two parts; the first has few bits, so that n times it is exact.
        const LN_2_HIGH: f32 = 0.693_359_4;
        const LN_2_LOW: f32 = -2.121_944_4e-4;
        let x = L::splat(-87.0).max(L::splat(88.0).min(x));
        let rounded = x.mul_add(L::splat(std::f32::consts::LOG2_E), L::splat(ROUND));
        let n = rounded.sub(L::splat(ROUND));
        let r = n.mul_add(L::splat(-LN_2_LOW), n.mul_add(L::splat(-LN_2_HIGH), x));
        let mut series = L::splat(1.0 / 5040.0);
        for coefficient in [1.0 / 720.0, 1.0 / 120.0, 1.0 / 24.0, 1.0 / 6.0, 0.5] {
            series = series.mul_add(r, L::splat(coefficient));
        }
        Self { scale: rounded.power_of_two(), fraction: series.mul(r).mul_add(r, r) }
    }

    #[inline(always)]
    fn value(self) -> L {
        self.scale.mul_add(self.fraction, self.scale)
    }

    #[inline(always)]
    fn minus_one(self) -> L {
        self.scale.mul_add(self.fraction, self.scale.sub(L::splat(1.0)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::classifier::perceptron::kernels::{Plain, WIDTH};

    /// A function of lanes as one of numbers.
    fn at(function: impl Fn(Plain) -> Plain, x: f32) -> f32 {
        let mut numbers = [f32::NAN; WIDTH];
        function(Plain::splat(x)).store(&mut numbers);
        numbers[0]
    }

    fn grid() -> impl Iterator<Item = f32> {
        (-400_000..=400_000).map(|i| i as f32 * 2e-4)
    }

    fn assert_close(fast: f32, exact: f64, x: f32) {
        let error = (f64::from(fast) - exact).abs();
        assert!(error <= 4e-7 * exact.abs(), "at {x}: {fast} against {exact}");
    }

    #[test]
    fn the_exponential_family_agrees_with_the_standard_library() {
        for x in grid().chain([1e-20, -1e-20, 1e-8, -1e-8]) {
            let exact = f64::from(x);
            assert_close(at(|x| Exponential::of(x).value(), x), exact.exp(), x);
            assert_close(at(sigmoid, x), 1.0 / (1.0 + (-exact).exp()), x);
            assert_close(at(Tanh::value, x), exact.tanh(), x);
            let elu = if exact > 0.0 { exact } else { exact.exp_m1() };
            assert_close(at(Elu::value, x), elu, x);
            assert_eq!(at(Relu::value, x), x.max(0.0));
        }
    }

    #[test]
    fn slopes_agree_with_finite_differences() {
        fn check<A: Nonlinearity>(exact: impl Fn(f64) -> f64) {
            for x in (-60..60).map(|i| 0.05 + f64::from(i) * 0.1) {
                let h = 1e-5;
                let difference = (exact(x + h) - exact(x - h)) / (2.0 * h);
                let slope = at(|x| A::slope(A::value(x)), x as f32);
                assert!((f64::from(slope) - difference).abs() < 1e-6, "at {x}");
            }
        }
        check::<Relu>(|x| x.max(0.0));
        check::<Elu>(|x| if x > 0.0 { x } else { x.exp_m1() });
        check::<Tanh>(f64::tanh);
    }

    #[test]
    fn zero_stays_zero_and_nan_stays_nan() {
        fn check<A: Nonlinearity>() {
            assert_eq!(at(A::value, 0.0), 0.0);
            assert!(at(A::value, f32::NAN).is_nan());
            assert!(at(A::value, f32::MIN).is_finite());
        }
        check::<Relu>();
        check::<Elu>();
        check::<Tanh>();
        assert!(at(sigmoid, f32::NAN).is_nan());
        assert_eq!(at(sigmoid, f32::INFINITY), 1.0);
    }
}
