//! Intervals of numbers, and which truths are possible: what is known of an expression over a box.
//!
//! The value of an expression at a point is computed with the same operations, in the same order, as its bounds over a
//! box. Sums, products, quotients and square roots are rounded monotonically, so that bounds computed without further
//! care contain every value computed at a point of the box. Powers, exponentials and logarithms come from a library
//! that promises less: their bounds are moved outwards, as are those that are computed backwards, from a result to an
//! operand.

/// The numbers from `low` to `high`; none, if `low > high`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Interval {
    pub low: f64,
    pub high: f64,
    /// Whether the value may be undefined: a division by zero, the logarithm of a negative number.
    pub undefined: bool,
}

/// How far a bound that was not rounded monotonically is moved, a part of its magnitude.
const OUTWARDS: f64 = 8.0 * f64::EPSILON;

impl Interval {
    /// Every number.
    pub const ALL: Self = Self { low: f64::NEG_INFINITY, high: f64::INFINITY, undefined: false };
    /// No number.
    pub const NONE: Self = Self { low: f64::INFINITY, high: f64::NEG_INFINITY, undefined: false };

    pub fn new(low: f64, high: f64) -> Self {
        Self { low, high, undefined: false }
    }

    pub fn is_empty(&self) -> bool {
        // Also where a bound is NaN, which no bound should be.
        !matches!(
            self.low.partial_cmp(&self.high),
            Some(std::cmp::Ordering::Less | std::cmp::Ordering::Equal)
        )
    }

    pub fn contains(&self, value: f64) -> bool {
        self.low <= value && value <= self.high
    }

    pub fn intersect(&self, other: &Self) -> Self {
        Self { low: self.low.max(other.low), high: self.high.min(other.high), ..*self }
    }

    fn maybe_undefined(self, undefined: bool) -> Self {
        Self { undefined: self.undefined || undefined, ..self }
    }

    /// Moved outwards by a few roundings of numbers as large as `magnitude`.
    pub fn widened(self, magnitude: f64) -> Self {
        let slack = OUTWARDS * magnitude.max(f64::MIN_POSITIVE);
        let slack = if slack.is_finite() { slack } else { 0.0 };
        Self { low: self.low - slack, high: self.high + slack, ..self }
    }

    /// Moved outwards by a few roundings of its own bounds.
    pub fn loosened(self) -> Self {
        let lower = |bound: f64| bound - OUTWARDS * bound.abs() - f64::MIN_POSITIVE;
        Self { low: lower(self.low), high: -lower(-self.high), ..self }
    }

    /// The largest finite magnitude of a bound.
    pub fn magnitude(&self) -> f64 {
        let finite = |bound: f64| if bound.is_finite() { bound.abs() } else { 0.0 };
        finite(self.low).max(finite(self.high))
    }

    /// The hull of some values, and no number if there are none; NaN and infinities mean undefined.
    fn hull(values: impl IntoIterator<Item = f64>) -> Self {
        let mut hull = Self::NONE;
        for value in values {
            if value.is_nan() {
                // 0 · ∞ or ∞ - ∞: nothing is known.
                return Self::ALL.maybe_undefined(true);
            }
            hull.low = hull.low.min(value);
            hull.high = hull.high.max(value);
        }
        // A value that overflows is undefined at a point.
        let overflows = hull.low == f64::NEG_INFINITY || hull.high == f64::INFINITY;
        hull.maybe_undefined(overflows)
    }

    /// The result of an operation on operands that may be undefined themselves.
    fn of(self, operands: [&Self; 2]) -> Self {
        let undefined = operands.iter().any(|operand| operand.undefined);
        if operands.iter().any(|operand| operand.is_empty()) {
            return Self { undefined: true, ..Self::NONE };
        }
        self.maybe_undefined(undefined)
    }

    pub fn negate(&self) -> Self {
        Self { low: -self.high, high: -self.low, ..*self }
    }

    pub fn add(&self, other: &Self) -> Self {
        Self::hull([self.low + other.low, self.high + other.high]).of([self, other])
    }

    pub fn subtract(&self, other: &Self) -> Self {
        self.add(&other.negate())
    }

    pub fn multiply(&self, other: &Self) -> Self {
        let (a, b) = (self, other);
        let corners = [a.low * b.low, a.low * b.high, a.high * b.low, a.high * b.high];
        Self::hull(corners).of([a, b])
    }

    pub fn divide(&self, other: &Self) -> Self {
        let (a, b) = (self, other);
        if b.contains(0.0) {
            let result = match (b.low == 0.0, b.high == 0.0) {
                (true, true) => Self::NONE,
                // The divisor has one sign, so that the quotient is at least or at most what the far end gives.
                (true, false) if a.low >= 0.0 => Self::new(a.low / b.high, f64::INFINITY),
                (true, false) if a.high <= 0.0 => Self::new(f64::NEG_INFINITY, a.high / b.high),
                (false, true) if a.low >= 0.0 => Self::new(f64::NEG_INFINITY, a.low / b.low),
                (false, true) if a.high <= 0.0 => Self::new(a.high / b.low, f64::INFINITY),
                _ => Self::ALL,
            };
            return result.maybe_undefined(true).of([a, b]);
        }
        let corners = [a.low / b.low, a.low / b.high, a.high / b.low, a.high / b.high];
        Self::hull(corners).of([a, b])
    }

    pub fn power(&self, exponent: &Self) -> Self {
        let (a, b) = (self, exponent);
        let whole = b.low == b.high && b.low.fract() == 0.0;
        let result = if a.low > 0.0 || (a.low == 0.0 && b.low > 0.0) {
            let corners =
                [a.low.powf(b.low), a.low.powf(b.high), a.high.powf(b.low), a.high.powf(b.high)];
            Self::hull(corners).loosened()
        } else if whole && b.low >= 0.0 {
            let ends = [a.low.powf(b.low), a.high.powf(b.low)];
            let middle = (a.contains(0.0) && b.low > 0.0).then_some(0.0);
            Self::hull(ends.into_iter().chain(middle)).loosened()
        } else {
            Self::ALL.maybe_undefined(true)
        };
        result.of([a, b])
    }

    pub fn min(&self, other: &Self) -> Self {
        Self::new(self.low.min(other.low), self.high.min(other.high)).of([self, other])
    }

    pub fn max(&self, other: &Self) -> Self {
        Self::new(self.low.max(other.low), self.high.max(other.high)).of([self, other])
    }

    pub fn absolute(&self) -> Self {
        let (low, high) = (self.low.abs(), self.high.abs());
        let least = if self.contains(0.0) { 0.0 } else { low.min(high) };
        Self::new(least, low.max(high)).of([self, self])
    }

    pub fn root(&self) -> Self {
        let result = match self.high >= 0.0 {
            true => Self::new(self.low.max(0.0).sqrt(), self.high.sqrt()),
            false => Self::NONE,
        };
        result.maybe_undefined(self.low < 0.0).of([self, self])
    }

    pub fn log(&self) -> Self {
        let result = match self.high > 0.0 {
            true => Self::new(self.low.max(0.0).ln(), self.high.ln()).loosened(),
            false => Self::NONE,
        };
        result.maybe_undefined(self.low <= 0.0).of([self, self])
    }

    pub fn exp(&self) -> Self {
        Self::hull([self.low.exp(), self.high.exp()]).loosened().of([self, self])
    }
}

/// The truth of a condition at a point. In this order `and` is the lesser of two and `or` the greater.
///
/// A comparison is *undefined* where a value in it is: a division by zero, the logarithm of a negative number. It is
/// *silent* where it mentions a parameter that is inactive. A constraint is met where it is true or silent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub(super) enum Truth {
    False,
    Undefined,
    Silent,
    True,
}

impl Truth {
    pub const EACH: [Self; 4] = [Self::False, Self::Undefined, Self::Silent, Self::True];

    pub fn of(condition: bool) -> Self {
        if condition { Self::True } else { Self::False }
    }

    pub fn not(self) -> Self {
        match self {
            Self::False => Self::True,
            Self::True => Self::False,
            other => other,
        }
    }
}

/// The truths that are possible over a box.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Truths(u8);

impl Truths {
    pub const NONE: Self = Self(0);
    pub const ALL: Self = Self(0b1111);
    /// Those that meet a constraint.
    pub const MET: Self = Self(0b1100);

    pub fn one(truth: Truth) -> Self {
        Self(1 << truth as u8)
    }

    pub fn has(self, truth: Truth) -> bool {
        self.0 & (1 << truth as u8) != 0
    }

    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    pub fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    pub fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    pub fn within(self, other: Self) -> bool {
        self.0 & !other.0 == 0
    }

    pub fn each(self) -> impl Iterator<Item = Truth> {
        Truth::EACH.into_iter().filter(move |&truth| self.has(truth))
    }

    /// What `operation` may give for a truth of each.
    pub fn combine(self, other: Self, operation: fn(Truth, Truth) -> Truth) -> Self {
        self.each().fold(Self::NONE, |all, a| {
            other.each().fold(all, |all, b| all.or(Self::one(operation(a, b))))
        })
    }

    /// Those of these truths that `operation`, with some truth of `other`, takes to one of `wanted`.
    pub fn that_reach(
        self,
        wanted: Self,
        other: Self,
        operation: fn(Truth, Truth) -> Truth,
    ) -> Self {
        let reaches = |a: Truth| other.each().any(|b| wanted.has(operation(a, b)));
        self.each().filter(|&a| reaches(a)).fold(Self::NONE, |all, a| all.or(Self::one(a)))
    }
}
