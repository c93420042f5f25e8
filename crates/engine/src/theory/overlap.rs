//! Points that are chosen while others are pending: the overlap factor.
//!
//! Let A be the points told when x is chosen, P those pending, and B = A ∪ P all that were asked for. Deviations need no
//! labels, so that σ_B is known. For every x,
//!
//! ```text
//! σ_A(x) ≤ e^c σ_B(x),     e^c = √det(I + λ⁻¹K_{P|A}) = exp(I_B - I_A),
//! ```
//!
//! where I is the information gain of a set. Proof: for one point p, σ²_{A∪p}(x) = σ²_A(x) - k_A(x, p)²/(λ + σ²_A(p)), and
//! k_A(x, p)² ≤ σ²_A(x) σ²_A(p), so that σ²_{A∪p}(x) ≥ σ²_A(x)/(1 + σ²_A(p)/λ). Point after point the factors multiply to
//! det(I + λ⁻¹K_{P|A}), by Lemma A.1. (Desautels, Krause and Burdick 2014 have this for Gaussian processes.)
//!
//! With Theorem 1 for the labels told, BORE++ has r = f(x) - f(x*) ≤ 2 L_ε β_A σ_A(x) at each point that it asks for, and
//! over N of them, with C the largest c,
//!
//! ```text
//! R_N ≤ 2 L_ε β_N e^C Σ σ_B(x) ≤ 2 L_ε β_N e^C √(2 N s γ_N / ln(1 + s/λ)),
//! ```
//!
//! because Σ σ_B(x) is the sum of Lemma A.2 over all points in the order in which they were asked for. The same holds for
//! points that maximise π̂_A + β_A e^c σ_B, which spread a batch: that bound lies between π̂_A + β_A σ_A and the truth.
//!
//! Cost: O(1), given the gains.

use crate::error::Result;

use super::confidence::check_not_negative;
use super::information_gain::InformationGain;

impl InformationGain {
    /// The overlap factor e^c = exp(I_B - I_A) by which pending points can shrink a deviation: σ_A(x) ≤ e^c σ_B(x) at every x.
    ///
    /// - `told`: I_A, the information gain of the points told.
    /// - `asked`: I_B, the information gain of all points asked for, told or pending.
    ///
    /// ```
    /// use wimble::kernel::{Kernel, Profile};
    /// use wimble::theory::InformationGain;
    ///
    /// let mut gain = InformationGain::new(Kernel::isotropic(Profile::Matern52, 1, 0.3, 1.0)?, 0.1)?;
    /// gain.push(&[0.2])?;
    /// let (told, before) = (gain.total(), gain.deviation(&[0.8])?);
    /// gain.push(&[0.8])?; // asked for, not told yet
    /// let factor = InformationGain::overlap_factor(told, gain.total())?;
    /// assert!(before <= factor * gain.deviation(&[0.8])? * (1.0 + 1e-12));
    /// # Ok::<(), wimble::Error>(())
    /// ```
    ///
    /// # Errors
    /// If a gain is negative or not finite.
    pub fn overlap_factor(told: f64, asked: f64) -> Result<f64> {
        check_not_negative("information gain of the points told", told)?;
        check_not_negative("information gain of all points", asked)?;
        Ok((asked - told).max(0.0).exp())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::{Kernel, Profile};
    use crate::seed::{Seed, uniform};

    #[test]
    fn no_deviation_shrinks_by_more_and_one_by_nearly_as_much() {
        let mut closest = 0.0_f64;
        for seed in 0..200 {
            let mut rng = Seed(seed).stream("overlap", 0);
            let ridge = 10.0_f64.powf(-2.0 * uniform(&mut rng));
            let kernel = Kernel::isotropic(Profile::Matern52, 1, 0.3, 1.0).unwrap();
            let mut told = InformationGain::new(kernel, ridge).unwrap();
            for _ in 0..seed % 5 {
                told.push(&[uniform(&mut rng)]).unwrap();
            }
            let mut asked = told.clone();
            let pending: Vec<f64> = (0..=seed % 4).map(|_| uniform(&mut rng)).collect();
            for x in &pending {
                asked.push(&[*x]).unwrap();
            }
            let factor = InformationGain::overlap_factor(told.total(), asked.total()).unwrap();
            for x in (0..50).map(|i| f64::from(i) / 49.0).chain(pending) {
                let ratio = told.deviation(&[x]).unwrap() / asked.deviation(&[x]).unwrap();
                assert!(ratio <= factor * (1.0 + 1e-9), "{ratio} {factor}");
                closest = closest.max(ratio / factor);
            }
        }
        // A single pending point meets it, at itself.
        assert!(closest > 0.999, "{closest}");
    }
}
