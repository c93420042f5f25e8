//! Eight numbers that are worked on together: the operations from which the kernels are written.
//!
//! The kernels are generic over [`Lanes`]; each instruction set implements it once. The tiles rely on a value
//! of this type being one or two registers, which the compiler's own vectorisation of arrays did not give
//! dependably.

/// Numbers in a vector.
pub(in super::super) const WIDTH: usize = 8;

/// A vector of [`WIDTH`] numbers.
pub(in super::super) trait Lanes: Copy {
    /// The same number in every lane.
    fn splat(number: f32) -> Self;
    /// The numbers in memory.
    fn load(numbers: &[f32; WIDTH]) -> Self;
    /// Writes the numbers to memory.
    fn store(self, numbers: &mut [f32; WIDTH]);
    /// self + other.
    fn add(self, other: Self) -> Self;
    /// self - other.
    fn sub(self, other: Self) -> Self;
    /// self · other.
    fn mul(self, other: Self) -> Self;
    /// self / other.
    fn div(self, other: Self) -> Self;
    /// The square root.
    fn sqrt(self) -> Self;
    /// self · factor + addend, rounded once where the instruction set can, else twice.
    fn mul_add(self, factor: Self, addend: Self) -> Self;
    /// The smaller number; `other` where either is NaN.
    fn min(self, other: Self) -> Self;
    /// The larger number; `other` where either is NaN.
    fn max(self, other: Self) -> Self;
    /// `yes` where self is positive, `no` elsewhere.
    fn if_positive(self, yes: Self, no: Self) -> Self;
    /// 2ⁿ, where n is what the bits of self hold beyond a multiple of 2⁹, as a whole number from -126 to 127.
    fn power_of_two(self) -> Self;
}

/// [`Lanes`] for any processor.
#[derive(Clone, Copy)]
pub(in super::super) struct Plain([f32; WIDTH]);

impl Plain {
    #[inline(always)]
    fn zip(self, other: Self, operation: impl Fn(f32, f32) -> f32) -> Self {
        Self(std::array::from_fn(|lane| operation(self.0[lane], other.0[lane])))
    }
}

impl Lanes for Plain {
    #[inline(always)]
    fn splat(number: f32) -> Self {
        Self([number; WIDTH])
    }
    #[inline(always)]
    fn load(numbers: &[f32; WIDTH]) -> Self {
        Self(*numbers)
    }
    #[inline(always)]
    fn store(self, numbers: &mut [f32; WIDTH]) {
        *numbers = self.0;
    }
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        self.zip(other, |a, b| a + b)
    }
    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        self.zip(other, |a, b| a - b)
    }
    #[inline(always)]
    fn mul(self, other: Self) -> Self {
        self.zip(other, |a, b| a * b)
    }
    #[inline(always)]
    fn div(self, other: Self) -> Self {
        self.zip(other, |a, b| a / b)
    }
    #[inline(always)]
    fn sqrt(self) -> Self {
        Self(self.0.map(f32::sqrt))
    }
    #[inline(always)]
    fn mul_add(self, factor: Self, addend: Self) -> Self {
        // Not `f32::mul_add`: without the instruction it is a call into the C library.
        self.mul(factor).add(addend)
    }
    #[inline(always)]
    fn min(self, other: Self) -> Self {
        self.zip(other, |a, b| if a < b { a } else { b })
    }
    #[inline(always)]
    fn max(self, other: Self) -> Self {
        self.zip(other, |a, b| if a > b { a } else { b })
    }
    #[inline(always)]
    fn if_positive(self, yes: Self, no: Self) -> Self {
        Self(std::array::from_fn(|lane| if self.0[lane] > 0.0 { yes.0[lane] } else { no.0[lane] }))
    }
    #[inline(always)]
    fn power_of_two(self) -> Self {
        const ONE: u32 = 1.0_f32.to_bits();
        Self(self.0.map(|number| f32::from_bits((number.to_bits() << 23).wrapping_add(ONE))))
    }
}
