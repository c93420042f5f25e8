//! The clauses of the contract, for any back end: `hold!(module: place)` makes a test of each.

pub mod additions;
pub mod changes;
pub mod claims;
pub mod continuations;
pub mod keys;
pub mod pauses;
pub mod reports;
pub mod steps;
pub mod studies;
pub mod transfers;

use std::any::Any;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use wimble::prelude::*;
use wimble_study::settings::{ENGINE, FORMAT, Record};
use wimble_study::store::{ANSWERS_KEPT, Ask, OutcomeKind, Proposal, Reply, Resume, Stage};
use wimble_study::{
    Addition, Claim, Clock as _, Counts, Diagnosis, EngineSpan, Error, Failure, Filter, Follower,
    ManualClock, Origin, Outcome, Settings, State, Store, Study, Timestamp, Token,
};

/// A store on a clock set by hand, with what must live as long as it.
pub struct Place {
    pub store: Arc<dyn Store>,
    pub clock: ManualClock,
    #[allow(dead_code, reason = "it only has to live")]
    pub kept: Option<Box<dyn Any + Send + Sync>>,
}

/// Holds a back end to every clause. The place is an expression of type `Option<Place>`; `None` skips.
macro_rules! hold {
    ($module:ident: $place:expr) => {
        mod $module {
            hold! { @ $place;
                studies:
                    a_study_is_created_once_and_opened_only_as_itself,
                    what_cannot_be_run_is_not_created,
                    a_later_format_is_refused,
                    an_older_engine_is_continued_and_the_record_says_from_which_trial,
                    a_method_is_built_only_to_propose,
                    a_budget_can_be_changed_and_ends_the_asking,
                    every_outcome_is_kept_as_told,
                    refusals_name_the_field,
                    studies_do_not_meet,
                    trials_are_listed_by_stage_and_worker,
                    a_deleted_study_is_gone_and_its_tokens_are_worth_nothing,
                    a_worker_on_a_study_that_was_replaced_is_told_so,
                    a_finite_space_is_tried_to_its_end,
                    a_strategy_of_the_users_own_proposes_and_is_named,
                    given_values_are_proposed_and_the_queue_is_left_to_others;
                additions:
                    what_a_user_enqueues_is_run_first,
                    imported_trials_are_evidence_and_leave_the_budget_alone,
                    adding_again_changes_nothing_and_other_contents_are_refused,
                    additions_are_taken_together_or_not_at_all,
                    what_imports_leave_of_a_finite_space_is_tried;
                reports:
                    counts_and_best_follow_every_change,
                    one_trial_is_found_by_its_number,
                    attributes_are_kept_with_the_outcome_and_never_change,
                    a_diagnosis_shows_who_holds_what,
                    long_texts_are_cut;
                claims:
                    heartbeats_are_sent_together_and_the_lost_are_named,
                    a_running_trial_has_one_holder,
                    heartbeats_keep_a_lease,
                    a_due_lease_ends_nothing_that_nobody_else_wants,
                    a_trial_that_is_due_is_taken_after_a_notice_and_its_late_result_is_refused,
                    a_sign_of_life_cancels_a_notice,
                    a_clock_that_jumps_forwards_takes_nothing_from_a_worker_that_is_alive,
                    incarnations_of_one_name_do_not_meet,
                    a_worker_that_shows_its_incarnation_continues_once,
                    a_trial_lost_too_often_fails,
                    a_released_trial_returns_to_the_queue_and_is_not_lost,
                    a_clock_that_jumps_never_gives_a_trial_two_holders,
                    finished_trials_never_change,
                    tokens_never_given_are_unknown;
                steps:
                    steps_are_kept_in_order_and_reporting_again_changes_nothing,
                    an_evaluation_that_begins_anew_drops_its_steps_from_there_on,
                    a_report_is_a_sign_of_life_and_refused_once_the_lease_is_lost,
                    steps_that_cannot_be_stored_are_refused_with_the_whole_call,
                    readers_follow_the_steps,
                    stopped_trials_are_not_among_the_best;
                continuations:
                    a_paused_trial_waits_outside_the_queue_until_a_plan_continues_it,
                    a_plan_that_names_what_is_not_paused_any_more_is_dropped,
                    how_far_a_trial_goes_stays_with_it,
                    steps_and_ends_come_in_one_order_to_whoever_reads_them,
                    paused_trials_are_copied_with_their_steps;
                keys:
                    asking_again_with_the_same_key_gives_the_same,
                    a_restarted_worker_gets_its_own_back,
                    telling_again_with_the_same_key_is_acknowledged,
                    answers_are_forgotten_long_after_their_trials_ended;
                pauses:
                    a_paused_study_begins_nothing_and_what_runs_goes_on,
                    a_paused_study_whose_budget_is_spent_is_over,
                    notes_stay_beside_their_trials;
                transfers:
                    a_copy_has_the_same_numbers_history_and_attributes,
                    a_backup_of_a_running_study_is_brought_up_to_date,
                    what_is_no_copy_is_refused_and_nothing_changes,
                    curves_are_copied_with_the_ends_of_their_trials;
                changes:
                    readers_follow_the_changes,
                    stale_proposals_are_dropped,
                    points_beyond_those_wanted_wait_in_the_queue,
                    threads_share_a_study,
                    a_study_goes_where_a_session_goes;
            }
        }
    };
    (@ $place:expr; $($group:ident: $($clause:ident),*;)*) => {
        $($(#[test] fn $clause() {
            if let Some(place) = $place { crate::suite::$group::$clause(&place); }
        })*)*
    };
}

const LEASE: Duration = Duration::from_secs(60);

fn space() -> SearchSpace {
    SearchSpace::new([
        Dimension::log_real("rate", 1e-5, 1.0),
        Dimension::categorical("kind", ["a", "b"]),
        Dimension::integer("size", 1, 9).when("kind", ["b"]),
    ])
    .unwrap()
}

fn settings() -> Settings {
    Settings::new("s", space(), "random".parse().unwrap()).seed(Seed(u64::MAX)).lease(LEASE)
}

fn open(place: &Place, settings: Settings) -> Study {
    Study::open_or_create(Arc::clone(&place.store), settings).unwrap()
}

fn one(study: &Study, worker: &str, key: &str) -> Claim {
    let mut claims = study.ask(worker, key, 1).unwrap();
    assert_eq!(claims.len(), 1);
    claims.pop().unwrap()
}

fn point() -> Configuration {
    [("rate", Value::Real(0.1)), ("kind", Value::from("a"))].into_iter().collect()
}

fn proposal(known: u64, configurations: Vec<Configuration>) -> Proposal {
    Proposal { known, configurations, engine: ENGINE.to_owned(), ..Proposal::default() }
}

fn state(study: &Study, trial: u64) -> State {
    let filter = Filter { from: trial, limit: Some(1), ..Filter::default() };
    study.trials(&filter).unwrap()[0].state.clone()
}

/// How many trials another worker could take just now, at the end of a notice.
fn left_to_take(study: &Study) -> usize {
    let now = study.store().condition().unwrap().now;
    let trials = study.trials(&Filter::default()).unwrap();
    trials.iter().filter_map(|trial| trial.lease()).filter(|lease| lease.due <= now).count()
}

fn message<T>(result: Result<T, Error>) -> String {
    result.err().expect("a refusal").to_string()
}
