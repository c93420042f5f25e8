//! How many others propose at the same time.

/// How many processes propose at the same time, as seen from here: all but one of them propose in vain.
#[derive(Debug, Default)]
pub(crate) struct Crowd {
    doublings: u32,
    /// How many proposals in a row were of use.
    used: u32,
}

impl Crowd {
    /// A proposal that was in vain is followed by one of twice as many points, at most this often.
    const MOST: u32 = 7;
    /// The most points that are proposed at a time because of others.
    const LARGEST: usize = 128;
    /// So many proposals in a row that were of use are followed by one of half as many points.
    const CALM: u32 = 8;

    /// Whether a proposal was of use: others will be faster next time too, unless what is proposed serves several of them.
    pub fn note(&mut self, used: bool) {
        self.used = if used { self.used + 1 } else { 0 };
        if !used {
            self.doublings = (self.doublings + 1).min(Self::MOST);
        } else if self.used.is_multiple_of(Self::CALM) {
            self.doublings = self.doublings.saturating_sub(1);
        }
    }

    /// How many points to propose instead of `count`: those that nobody waits for lie in the queue for whoever asks next.
    pub fn widen(&self, count: usize) -> usize {
        count.saturating_mul(1 << self.doublings).min(Self::LARGEST).max(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn proposals_in_vain_widen_the_next_and_calm_narrows_them() {
        let mut crowd = Crowd::default();
        assert_eq!(crowd.widen(1), 1, "one at a time where nobody else proposes");
        (0..3).for_each(|_| crowd.note(false));
        assert_eq!((crowd.widen(1), crowd.widen(2)), (8, 16));
        (0..7).for_each(|_| crowd.note(true));
        assert_eq!(crowd.widen(1), 8);
        crowd.note(true);
        assert_eq!(crowd.widen(1), 4);
        (0..100).for_each(|_| crowd.note(true));
        assert_eq!(crowd.widen(1), 1);
        (0..100).for_each(|_| crowd.note(false));
        assert_eq!((crowd.widen(1), crowd.widen(64), crowd.widen(1_000)), (128, 128, 1_000));
    }
}
