//! The kernels for x86-64 with AVX2 and FMA.

use std::arch::x86_64 as arch;

use super::lanes::{Lanes, WIDTH};
use super::passes::{self, AdamStep, Minibatch, Moments, Parameters};
use super::tile::Panel;

/// The logit of each sample.
#[target_feature(enable = "avx2,fma")]
pub(super) fn logits(parameters: &Parameters, activations: &mut [Panel], logits: &mut [f32]) {
    passes::logits::<Avx2>(parameters, activations, logits);
}

/// The logit of each sample, and its gradient in the inputs in place of the samples.
#[target_feature(enable = "avx2,fma")]
pub(super) fn gradients(parameters: &Parameters, activations: &mut [Panel], logits: &mut [f32]) {
    self::logits(parameters, activations, logits);
    passes::gradients::<Avx2>(parameters, activations, logits.len());
}

/// One step of Adam.
#[target_feature(enable = "avx2,fma")]
pub(super) fn step(
    parameters: &mut Parameters,
    moments: &mut Moments,
    minibatch: &mut Minibatch,
    adam: AdamStep,
) {
    logits(parameters, &mut minibatch.activations, &mut minibatch.deltas);
    passes::step::<Avx2>(parameters, moments, minibatch, adam);
}

/// [`Lanes`] in an AVX register. Private to this file, whose functions name it only where the processor is
/// known to have AVX2 and FMA: that is what every `unsafe` below rests on.
#[derive(Clone, Copy)]
struct Avx2(arch::__m256);

impl Lanes for Avx2 {
    #[inline(always)]
    fn splat(number: f32) -> Self {
        // SAFETY: the processor has AVX2 and FMA, see the type.
        Self(unsafe { arch::_mm256_set1_ps(number) })
    }
    #[inline(always)]
    fn load(numbers: &[f32; WIDTH]) -> Self {
        // SAFETY: as above; the reference covers the eight numbers read, at any alignment.
        Self(unsafe { arch::_mm256_loadu_ps(numbers.as_ptr()) })
    }
    #[inline(always)]
    fn store(self, numbers: &mut [f32; WIDTH]) {
        // SAFETY: as above; the reference covers the eight numbers written, at any alignment.
        unsafe { arch::_mm256_storeu_ps(numbers.as_mut_ptr(), self.0) }
    }
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        // SAFETY: the processor has AVX2 and FMA, see the type.
        Self(unsafe { arch::_mm256_add_ps(self.0, other.0) })
    }
    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        // SAFETY: the processor has AVX2 and FMA, see the type.
        Self(unsafe { arch::_mm256_sub_ps(self.0, other.0) })
    }
    #[inline(always)]
    fn mul(self, other: Self) -> Self {
        // SAFETY: the processor has AVX2 and FMA, see the type.
        Self(unsafe { arch::_mm256_mul_ps(self.0, other.0) })
    }
    #[inline(always)]
    fn div(self, other: Self) -> Self {
        // SAFETY: the processor has AVX2 and FMA, see the type.
        Self(unsafe { arch::_mm256_div_ps(self.0, other.0) })
    }
    #[inline(always)]
    fn sqrt(self) -> Self {
        // SAFETY: the processor has AVX2 and FMA, see the type.
        Self(unsafe { arch::_mm256_sqrt_ps(self.0) })
    }
    #[inline(always)]
    fn mul_add(self, factor: Self, addend: Self) -> Self {
        // SAFETY: the processor has AVX2 and FMA, see the type.
        Self(unsafe { arch::_mm256_fmadd_ps(self.0, factor.0, addend.0) })
    }
    #[inline(always)]
    fn min(self, other: Self) -> Self {
        // SAFETY: the processor has AVX2 and FMA, see the type.
        Self(unsafe { arch::_mm256_min_ps(self.0, other.0) })
    }
    #[inline(always)]
    fn max(self, other: Self) -> Self {
        // SAFETY: the processor has AVX2 and FMA, see the type.
        Self(unsafe { arch::_mm256_max_ps(self.0, other.0) })
    }
    #[inline(always)]
    fn if_positive(self, yes: Self, no: Self) -> Self {
        // SAFETY: the processor has AVX2 and FMA, see the type.
        Self(unsafe {
            let positive =
                arch::_mm256_cmp_ps::<{ arch::_CMP_GT_OQ }>(self.0, arch::_mm256_setzero_ps());
            arch::_mm256_blendv_ps(no.0, yes.0, positive)
        })
    }
    #[inline(always)]
    fn power_of_two(self) -> Self {
        // SAFETY: the processor has AVX2 and FMA, see the type.
        Self(unsafe {
            let exponent = arch::_mm256_slli_epi32::<23>(arch::_mm256_castps_si256(self.0));
            let one = arch::_mm256_castps_si256(arch::_mm256_set1_ps(1.0));
            arch::_mm256_castsi256_ps(arch::_mm256_add_epi32(exponent, one))
        })
    }
}
