//! A figure from end to end, in small.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use wimble_experiments::data::Folder;
use wimble_experiments::paper::{Changes, Figure, Plan, draw, summarise};
use wimble_experiments::{Done, Error, Experiment as _, Place, summary};

fn plan(figure: Figure, changes: &Changes) -> Plan {
    Plan { figure, settings: figure.settings().unwrap().with(changes).unwrap(), seed: 7 }
}

fn words(names: &[&str]) -> Vec<String> {
    names.iter().map(|&name| name.to_owned()).collect()
}

fn small() -> Changes {
    Changes { trials: Some(2), rounds: Some(6), ..Changes::default() }
}

/// Runs on so many threads, without any data.
fn attempt(dir: &Path, plan: &Plan, jobs: usize) -> Result<Done, Error> {
    let place = Place { dir, jobs, data: &Folder::new("no such folder") };
    wimble_experiments::run(plan, &place, &|_| ())
}

fn run(dir: &Path, plan: &Plan, jobs: usize) -> Done {
    attempt(dir, plan, jobs).unwrap()
}

/// The bytes of every record, by file name.
fn records(dir: &Path, figure: Figure) -> BTreeMap<PathBuf, Vec<u8>> {
    let folder = dir.join("records").join(figure.name());
    let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    files.map(|path| (path.file_name().unwrap().into(), fs::read(&path).unwrap())).collect()
}

#[test]
fn figure_1_runs_resumes_summarises_and_draws() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    let theory = plan(Figure::Theory, &small());
    let trials = theory.trials().unwrap().len();
    assert_eq!(trials, 14);
    let done = run(dir, &theory, 1);
    assert_eq!(done, Done { computed: trials, ..Done::default() });
    let first = records(dir, Figure::Theory);
    assert_eq!(first.len(), trials);
    // What was run, six rounds, how it ended.
    assert!(first.values().all(|text| text.iter().filter(|&&byte| byte == b'\n').count() == 8));

    // Two threads write the same bytes.
    let other = tempfile::tempdir().unwrap();
    run(other.path(), &theory, 2);
    assert_eq!(records(other.path(), Figure::Theory), first);

    // What is finished is not computed again; what is cut or damaged is, and gives the same.
    assert_eq!(run(dir, &theory, 1), Done { found: trials, ..Done::default() });
    let folder = dir.join("records/fig1");
    let cut = folder.join("rkhs-1d__bore++__0.jsonl");
    let text = fs::read(&cut).unwrap();
    fs::write(&cut, &text[..text.len() / 2]).unwrap();
    let damaged = folder.join("rkhs-1d__bore__1.jsonl");
    let text = fs::read_to_string(&damaged).unwrap();
    let lines: Vec<&str> = text
        .lines()
        .enumerate()
        .map(|(i, line)| if i == 3 { "{\"round\": 3" } else { line })
        .collect();
    fs::write(&damaged, lines.join("\n")).unwrap();
    let found = summarise(dir).unwrap();
    assert_eq!((found.corrupt_lines, found.open_trials), (2, 2));
    let done = run(dir, &theory, 2);
    assert_eq!(done, Done { computed: 2, found: trials - 2, corrupt_lines: 2 });
    assert_eq!(records(dir, Figure::Theory), first);

    // Another seed and other settings do not mix with these.
    let other_seed = Plan { seed: 8, ..theory.clone() };
    let error = attempt(dir, &other_seed, 1).unwrap_err();
    assert!(matches!(error, Error::OtherSettings { .. }), "{error}");
    let mut noisier = theory.clone();
    noisier.settings.noise_variance = 0.5;
    let error = attempt(dir, &noisier, 1).unwrap_err();
    assert!(matches!(error, Error::OtherSettings { .. }), "{error}");
    assert_eq!(records(dir, Figure::Theory), first);

    // More rounds are computed from the start, and begin with the same ones; fewer rounds are there already.
    let longer = plan(Figure::Theory, &Changes { rounds: Some(7), ..small() });
    assert_eq!(run(other.path(), &longer, 2).computed, trials);
    for (name, text) in records(other.path(), Figure::Theory) {
        let rounds = |text: &[u8]| -> Vec<String> {
            let text = String::from_utf8(text.to_vec()).unwrap();
            text.lines().skip(1).take(6).map(str::to_owned).collect()
        };
        assert_eq!(rounds(&text), rounds(&first[&name]));
    }
    assert_eq!(run(other.path(), &theory, 1).found, trials);

    let found = summarise(dir).unwrap();
    assert_eq!((found.corrupt_lines, found.open_trials), (0, 0));
    let table = fs::read_to_string(dir.join("summary.csv")).unwrap();
    assert_eq!(
        table.lines().next().unwrap(),
        "figure,problem,method,trials,round,evaluations,metric,mean,median,lower95,upper95"
    );
    let rows = summary::read(&dir.join("summary.csv")).unwrap();
    let averages = rows.iter().filter(|row| row.metric == "average_regret");
    assert_eq!(averages.clone().count(), 7 * 6);
    assert!(
        averages
            .clone()
            .all(|row| row.trials == 2 && row.lower95 <= row.mean && row.mean <= row.upper95)
    );
    let page = fs::read_to_string(dir.join("fig1.md")).unwrap();
    assert!(
        page.contains("BORE++ outperforms GP-UCB") && page.contains("wimble-lab paper fig1"),
        "{page}"
    );

    let written = draw(dir).unwrap();
    assert_eq!(written, [dir.join("fig1.svg")]);
    let svg = fs::read_to_string(&written[0]).unwrap();
    assert!(svg.contains("<svg") && svg.contains("average regret") && svg.contains("GP-UCB"));
}

#[test]
fn figures_2_and_e1_run_and_draw() {
    let dir = tempfile::tempdir().unwrap();
    let global = Changes {
        trials: Some(2),
        rounds: Some(2),
        methods: words(&["batch-bore", "batch-bore++", "random", "cma-es"]),
        problems: words(&["branin", "hartmann3"]),
        time_limit: Some(60.0),
        ..Changes::default()
    };
    run(dir.path(), &plan(Figure::Global, &global), 2);
    let rosenbrock = Changes {
        trials: Some(1),
        rounds: Some(5),
        methods: words(&["batch-bore", "batch-bore++"]),
        problems: words(&["rosenbrock-3"]),
        ..Changes::default()
    };
    run(dir.path(), &plan(Figure::Rosenbrock, &rosenbrock), 2);
    assert_eq!(summarise(dir.path()).unwrap().figures, [Figure::Global, Figure::Rosenbrock]);
    let rows = summary::read(&dir.path().join("summary.csv")).unwrap();
    let regret = |method: &str, round: usize| {
        let row = rows.iter().find(|row| {
            row.problem == "branin"
                && row.method == method
                && row.round == round
                && row.metric == "simple_regret"
        });
        row.unwrap().clone()
    };
    // The page has the options that were given.
    let page = fs::read_to_string(dir.path().join("fig2.md")).unwrap();
    let command = page.lines().find(|line| line.starts_with("wimble-lab paper fig2")).unwrap();
    for option in [
        "--trials 2 --rounds 2",
        "--problems branin,hartmann3",
        "--time-limit 60",
        "--methods batch-bore,",
    ] {
        assert!(command.contains(option), "{command}");
    }
    // The methods are compared after the rounds that they reached.
    let page = fs::read_to_string(dir.path().join("figE1.md")).unwrap();
    assert!(page.contains("| problem | metric | method | less | round 5 |\n"), "{page}");
    assert!(page.contains("| rosenbrock-3 | batch BORE++ | "), "{page}");
    let line = "| rosenbrock-3 | cumulative regret | batch BORE++ | batch BORE | ";
    assert_eq!(page.matches(line).count(), 1, "{page}");
    assert_eq!(regret("random", 2).evaluations, 30);
    assert!(regret("random", 2).mean <= regret("random", 1).mean);
    assert_eq!(draw(dir.path()).unwrap().len(), 2);
}

/// The MNIST problem is the one of Figure 3 whose data are part of the repository.
#[test]
fn figure_3_runs_on_the_forest_and_names_the_data_that_are_missing() {
    let dir = tempfile::tempdir().unwrap();
    let changes = Changes {
        trials: Some(2),
        rounds: Some(3),
        methods: words(&["bore", "random"]),
        problems: words(&["mnist"]),
        ..Changes::default()
    };
    run(dir.path(), &plan(Figure::RealData, &changes), 2);
    assert_eq!(summarise(dir.path()).unwrap().figures, [Figure::RealData]);
    let rows = summary::read(&dir.path().join("summary.csv")).unwrap();
    let best = rows.iter().find(|row| row.metric == "best_value" && row.evaluations == 13);
    assert!((0.01..0.95).contains(&best.unwrap().mean), "{best:?}");
    let page = fs::read_to_string(dir.path().join("fig3.md")).unwrap();
    assert!(page.contains("rank correlation") && page.contains("1024 networks"), "{page}");
    assert_eq!(draw(dir.path()).unwrap().len(), 1);

    for (problem, file) in [
        ("parkinsons", "parkinsons_telemonitoring.csv.gz"),
        ("racing-eth", "ethzMobil_center.txt"),
        ("lcbench", "manifest.json"),
    ] {
        let changes = Changes { problems: words(&[problem]), ..changes.clone() };
        let error = attempt(dir.path(), &plan(Figure::RealData, &changes), 1).unwrap_err();
        assert!(matches!(error, Error::MissingData { .. }), "{error}");
        assert!(error.to_string().contains(file), "{error}");
    }
}

#[test]
fn data_with_another_content_are_refused_before_the_first_trial() {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir(dir.path().join("racing_ucb")).unwrap();
    fs::write(dir.path().join("racing_ucb/ucb_center.txt"), "0,1\n0,1\n").unwrap();
    let changes = Changes { problems: vec!["racing-ucb".to_owned()], ..small() };
    let place = Place { dir: dir.path(), jobs: 1, data: &Folder::new(dir.path()) };
    let plan = plan(Figure::RealData, &changes);
    let error = wimble_experiments::run(&plan, &place, &|_| ()).unwrap_err().to_string();
    assert!(error.contains("SHA-256") && error.contains("jainachin/bayesrace"), "{error}");
    assert!(!dir.path().join("records").exists());
}

#[test]
fn a_time_limit_aborts_a_trial_and_says_so() {
    let dir = tempfile::tempdir().unwrap();
    let changes = Changes {
        trials: Some(1),
        rounds: Some(3),
        methods: vec!["lp-ei".to_owned()],
        problems: vec!["branin".to_owned()],
        ..Changes::default()
    };
    let mut plan = plan(Figure::Global, &changes);
    plan.settings.methods[0].time_limit = Some(0.0);
    run(dir.path(), &plan, 1);
    // Aborted is an end: the trial is not run again.
    assert_eq!(run(dir.path(), &plan, 1).found, 1);
    summarise(dir.path()).unwrap();
    let page = fs::read_to_string(dir.path().join("fig2.md")).unwrap();
    assert!(page.contains("1 of 1 trials of LP-EI reached their time limit"), "{page}");
}

#[test]
fn a_folder_without_records_is_answered_with_what_to_do() {
    let dir = tempfile::tempdir().unwrap();
    assert!(summarise(dir.path()).unwrap_err().to_string().contains("no records"));
    assert!(draw(dir.path()).unwrap_err().to_string().contains("no summary.csv"));
}
