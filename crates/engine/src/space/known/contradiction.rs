//! A smallest set of constraints that contradict each other.
//!
//! Sets are tried by size, as long as there are few of them; beyond that, constraints are taken away one by one as long as
//! the rest is still contradictory, which leaves a set of which none can be missed.

use super::region;
use super::system::System;
use super::variable::Variable;
use crate::space::layout::Layout;

/// The most sets that are tried by size.
const MOST_SETS: usize = 500;

/// The indices of a smallest contradicting set of a system that is contradictory as a whole.
pub(super) fn smallest(layout: &Layout, variables: &[Variable], system: &System) -> Vec<usize> {
    let contradicts = |set: &[usize]| {
        let expressions = set.iter().map(|&i| system.expressions[i].clone()).collect();
        region::boxes(&System::new(layout, variables.to_vec(), expressions)).is_empty()
    };
    let count = system.expressions.len();
    let mut tried = 0;
    for size in 1..count {
        let mut set: Vec<usize> = (0..size).collect();
        loop {
            if tried == MOST_SETS {
                return irreducible((0..count).collect(), contradicts);
            }
            tried += 1;
            if contradicts(&set) {
                return set;
            }
            if !advance(&mut set, count) {
                break;
            }
        }
    }
    (0..count).collect()
}

/// The next set of the same size, in lexicographic order; false after the last.
fn advance(set: &mut [usize], count: usize) -> bool {
    let size = set.len();
    let Some(place) = (0..size).rev().find(|&i| set[i] < count - size + i) else { return false };
    set[place] += 1;
    for i in place + 1..size {
        set[i] = set[i - 1] + 1;
    }
    true
}

fn irreducible(mut set: Vec<usize>, contradicts: impl Fn(&[usize]) -> bool) -> Vec<usize> {
    let mut place = 0;
    while place < set.len() && set.len() > 1 {
        let left = set.remove(place);
        if !contradicts(&set) {
            set.insert(place, left);
            place += 1;
        }
    }
    set
}
