//! What do fronts, hypervolumes and contributions cost? The names have the number of rows and of objectives.

#![allow(missing_docs, reason = "criterion's macros make public functions")]

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use wimble::internals::uniform;
use wimble::pareto::{Front, contributions, front, hypervolume, levels};
use wimble::points::Points;
use wimble::seed::Seed;

/// Rows in the unit cube, most of them dominated.
fn cube(len: usize, objectives: usize) -> Points {
    let mut rng = Seed(0).stream("cube", objectives as u64);
    let mut rows = Points::zeros(objectives, len);
    rows.rows_mut().for_each(|row| row.fill_with(|| uniform(&mut rng)));
    rows
}

/// Rows on the unit sphere: all of them on the front.
fn sphere(len: usize, objectives: usize) -> Points {
    let mut rows = cube(len, objectives);
    for row in rows.rows_mut() {
        let norm = row.iter().map(|value| value * value).sum::<f64>().sqrt();
        row.iter_mut().for_each(|value| *value /= norm);
    }
    rows
}

fn fronts(criterion: &mut Criterion) {
    for (len, objectives) in [(1_000_000, 2), (100_000, 2), (100_000, 3), (100_000, 5)] {
        let rows = cube(len, objectives);
        criterion.bench_function(&format!("front_insert_all_n{len}_k{objectives}"), |bencher| {
            bencher.iter(|| {
                let mut front = Front::new(objectives).expect("there is an objective");
                front.set_reference(&vec![1.0; objectives]).expect("it is finite");
                rows.rows().for_each(|row| {
                    black_box(front.insert(row).expect("it is finite"));
                });
                front
            });
        });
    }
    // One more trial after so many: the front is not computed again.
    for (len, objectives) in [(1_000, 2), (1_000_000, 2), (1_000, 3), (1_000_000, 3)] {
        let mut front = Front::new(objectives).expect("there is an objective");
        front.set_reference(&vec![1.0; objectives]).expect("it is finite");
        for row in cube(len, objectives).rows() {
            front.insert(row).expect("it is finite");
        }
        let more = cube(1_000, objectives);
        let mut next = more.rows().cycle();
        criterion.bench_function(
            &format!("front_insert_one_after_n{len}_k{objectives}"),
            |bencher| {
                bencher.iter(|| black_box(front.insert(next.next().expect("it has no end"))));
            },
        );
    }
    for (len, objectives) in [(10_000, 2), (10_000, 3), (2_000, 5)] {
        let rows = cube(len, objectives);
        criterion.bench_function(&format!("front_n{len}_k{objectives}"), |bencher| {
            bencher.iter(|| front(black_box(&rows)));
        });
        criterion.bench_function(&format!("levels_n{len}_k{objectives}"), |bencher| {
            bencher.iter(|| levels(black_box(&rows)));
        });
    }
}

fn volumes(criterion: &mut Criterion) {
    let rng = &mut Seed(0).stream("bench", 0);
    for (len, objectives) in
        [(10_000, 2), (10_000, 3), (100, 4), (1_000, 4), (100, 5), (400, 5), (200, 6), (100, 8)]
    {
        let rows = sphere(len, objectives);
        let reference = vec![1.1; objectives];
        criterion.bench_function(
            &format!("hypervolume_of_front_n{len}_k{objectives}"),
            |bencher| {
                bencher.iter(|| hypervolume(black_box(&rows), &reference, rng));
            },
        );
    }
    for (len, objectives) in [(10_000, 2), (200, 3), (1_000, 3), (100, 4)] {
        let rows = sphere(len, objectives);
        let reference = vec![1.1; objectives];
        criterion.bench_function(
            &format!("contributions_of_front_n{len}_k{objectives}"),
            |bencher| {
                bencher.iter(|| contributions(black_box(&rows), &reference, rng));
            },
        );
    }
}

criterion_group! {
    name = benches;
    config = Criterion::default().sample_size(10);
    targets = fronts, volumes
}
criterion_main!(benches);
