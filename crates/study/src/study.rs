//! Ask and tell through a store.
//!
//! A study may be open any number of times, in any number of threads and processes. Threads that share a study share
//! its model: one thread proposes at a time, and knows what the others proposed. Each process proposes on its own, and
//! the store accepts the proposal that comes first (see [`store`](crate::store)).
//!
//! An ask costs what the method costs, and what it takes to read the changes since the last ask of this process. The
//! first ask of a process reads the whole history.

use std::borrow::Cow;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use wimble::forecast::Forecast;
use wimble::importance::Importance;
use wimble::outcome::{Measurement, Outcome};
use wimble::session::Best;
use wimble::space::{Configuration, Fixed};
use wimble::standing::Standing;
use wimble::stopping::{Rule, Verdict};
use wimble::strategy::Strategy;

use crate::addition::Addition;
use crate::attributes::Attributes;
use crate::counts::Counts;
use crate::crowd::Crowd;
use crate::error::{Error, Result};
use crate::follower::{Follower, Progress};
use crate::front::{Front, Watch};
use crate::note::Note;
use crate::settings::{Record, Settings};
use crate::step::{Report, Step};
use crate::store::{Ask, Filter, Proposal, Refused, Reply, Resume, Stage, Store, Tell};
use crate::trial::{Claim, Token, Trial};

/// How many trials are read at a time.
const PAGE: usize = 1_000;

/// An open study.
pub struct Study {
    store: Arc<dyn Store>,
    settings: Settings,
    model: Mutex<Model>,
    watch: Mutex<Watch>,
    /// What stopping rules look at, apart from the model: a verdict waits for no proposal.
    curves: Mutex<Option<Follower>>,
    fixed: Option<Fixed>,
    /// The name of a strategy that is not the study's own method.
    other: Option<&'static str>,
}

/// What is needed to propose and to recommend. A process that only tells or looks never builds the method.
struct Model {
    follower: Follower,
    strategy: Option<Box<dyn Strategy>>,
    crowd: Crowd,
}

impl Model {
    /// The follower, and the method, which is built when it is first needed.
    fn parts(&mut self, settings: &Settings) -> Result<(&mut Follower, &dyn Strategy, &mut Crowd)> {
        let strategy = match self.strategy.take() {
            Some(strategy) => strategy,
            None => strategy(settings)?,
        };
        Ok((&mut self.follower, &**self.strategy.insert(strategy), &mut self.crowd))
    }
}

impl Study {
    /// Opens the study with these settings, or creates it if the store has none of its name. Refuses a study that has
    /// other settings, and says what differs.
    pub fn open_or_create(store: Arc<dyn Store>, settings: Settings) -> Result<Self> {
        settings.check()?;
        // The method is built before anything is kept: what cannot be run is not created.
        let strategy = strategy(&settings)?;
        let stored = store.create(&Record::new(settings.clone()))?;
        settings.check_same(&stored.settings)?;
        if settings.method == stored.settings.method {
            return Ok(Self::new(store, settings, Some(strategy)));
        }
        // What these settings leave open of the method, the study decided when it was created.
        let method = stored.settings.method;
        Ok(Self::new(store, Settings { method, ..settings }, None))
    }

    /// The study of this name, with the settings that it was created with. The method is built when it first proposes or
    /// recommends.
    pub fn open(store: Arc<dyn Store>, name: &str) -> Result<Self> {
        let settings = store.study(name)?.settings;
        Ok(Self::new(store, settings, None))
    }

    fn new(store: Arc<dyn Store>, settings: Settings, strategy: Option<Box<dyn Strategy>>) -> Self {
        let follower = Follower::new(&settings);
        let watch = Mutex::new(Watch::new(settings.goal.clone()));
        let model = Mutex::new(Model { follower, strategy, crowd: Crowd::default() });
        let curves = Mutex::new(None);
        Self { store, settings, model, watch, curves, fixed: None, other: None }
    }

    /// The same study, whose new proposals here have these values; the method chooses the rest. The space of the study stays
    /// as it is, and so does what others propose. What waits in the queue is given out as it is, unless an ask is fresh.
    pub fn fixing(self, values: Configuration) -> Result<Self> {
        if values.iter().next().is_none() {
            return Ok(self);
        }
        if self.settings.space.candidates().is_some() {
            return Err(Error::Invalid {
                study: self.settings.name,
                field: "fixed values",
                value: values.to_string(),
                allowed: "left out where the space is a list of candidates: `wimble enqueue` takes one of them".to_owned(),
            });
        }
        // Those that were given before stay, unless they are given anew.
        let mut all = self.fixed.as_ref().map(|fixed| fixed.values().clone()).unwrap_or_default();
        for (name, value) in values {
            all.insert(name, value);
        }
        let fixed = Fixed::new(&self.settings.space, all)?;
        let narrowed = Settings { space: fixed.space().clone(), ..self.settings.clone() };
        let model = self.model.into_inner().unwrap_or_else(PoisonError::into_inner);
        let model = Mutex::new(Model { follower: Follower::new(&narrowed), ..model });
        Ok(Self { model, fixed: Some(fixed), ..self })
    }

    /// The same study, whose new trials here a strategy of your own proposes. The study keeps the method of its settings, by
    /// which others continue it; the store notes under the version of the engine which strategy proposed which trials.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use wimble::prelude::*;
    /// use wimble::points::Points;
    /// use wimble::strategy::{Evidence, Memory};
    /// use wimble_study::{Settings, Study, SystemClock};
    ///
    /// struct Centre;
    ///
    /// impl Strategy for Centre {
    ///     fn name(&self) -> &'static str {
    ///         "centre"
    ///     }
    ///
    ///     fn propose(&self, evidence: Evidence, size: usize, _: &mut Memory) -> wimble::Result<Points> {
    ///         evidence.place(size, "centre", 0, |evidence, count, _| {
    ///             let middle = vec![0.5; evidence.space.dim()];
    ///             Ok(Points::from_rows(middle.len(), std::iter::repeat_n(middle.clone(), count)))
    ///         })
    ///     }
    /// }
    ///
    /// let space = SearchSpace::new([Dimension::real("x", -1.0, 1.0)])?;
    /// let store = Arc::new(wimble_study::Memory::new(SystemClock));
    /// let study = Study::open_or_create(store, Settings::new("s", space, "random".parse()?))?;
    /// let study = study.proposing_with(Box::new(Centre))?;
    /// assert_eq!(study.ask("worker", "key", 1)?[0].configuration.real("x")?, 0.0);
    /// # Ok::<(), wimble_study::Error>(())
    /// ```
    pub fn proposing_with(self, strategy: Box<dyn Strategy>) -> Result<Self> {
        strategy.check(&self.settings.space, &self.settings.goal)?;
        let other = Some(strategy.name());
        // What another method remembered is not for this one.
        let space = self.fixed.as_ref().map_or(&self.settings.space, Fixed::space).clone();
        let follower = Follower::new(&Settings { space, ..self.settings.clone() });
        let model = Model { follower, strategy: Some(strategy), crowd: Crowd::default() };
        let model = Mutex::new(model);
        Ok(Self { model, other, ..self })
    }

    /// Gives a worker up to `wanted` trials to hold: first those that it runs already, then queued ones, then new ones.
    ///
    /// There are fewer, or none, if the budget is spent and the queue is empty. That is final only once no trial is
    /// running ([`Self::progress`]): a trial whose worker is lost is given to another. A study that is paused refuses
    /// ([`Error::Paused`]) until it goes on. Asking again with the same
    /// `client_key` gives the same claims.
    pub fn ask(&self, worker: &str, client_key: &str, wanted: usize) -> Result<Vec<Claim>> {
        let key = client_key;
        self.ask_with(&Ask { worker, incarnation: None, key, wanted, fresh: false, plans: false })
    }

    /// The same for one incarnation of a worker.
    pub fn ask_with(&self, ask: &Ask<'_>) -> Result<Vec<Claim>> {
        let name = &self.settings.name;
        let mut reply = self.store.ask(name, ask, None)?;
        if let Reply::Claims(claims) = reply {
            return Ok(claims);
        }
        let mut model = match self.model.try_lock() {
            Ok(model) => model,
            Err(_) => {
                let model = self.model()?;
                // Another thread may have filled the queue while this one waited for the model: look again first.
                reply = self.store.ask(name, ask, None)?;
                model
            }
        };
        let (follower, strategy, crowd) = model.parts(&self.settings)?;
        loop {
            let (count, room, issued) = match reply {
                Reply::Claims(claims) => return Ok(claims),
                Reply::Propose { count, room, issued } => (count, room, issued),
            };
            let room = usize::try_from(room).unwrap_or(usize::MAX);
            // Trials are never taken back, and a reader misses none: otherwise this is another study.
            let replaced = || Error::Replaced { study: name.clone() };
            if follower.issued() > issued {
                return Err(replaced());
            }
            follower.catch_up(&*self.store)?;
            if follower.issued() < issued {
                return Err(replaced());
            }
            // What others find in the queue was not fixed by them.
            let many = crowd.widen(count);
            let count = match ask.fresh {
                true => count,
                // A plan is made for each free worker anew.
                false if ask.plans => count.max(many),
                false => count.max(many.max(self.settings.batch_size).min(room)),
            };
            let mut proposal = match &self.fixed {
                _ if ask.plans => follower.plan(strategy, count, room)?,
                Some(fixed) => follower.propose_fixed(strategy, count, fixed)?,
                None => follower.propose(strategy, count)?,
            };
            if let Some(name) = self.other {
                proposal.engine = format!("{} with {name}", proposal.engine);
            }
            reply = self.store.ask(name, ask, Some(&proposal))?;
            let Proposal { configurations, continued, .. } = &proposal;
            let mine = |claim: &Claim| {
                configurations.contains(&claim.configuration)
                    || continued.iter().any(|planned| planned.trial == claim.trial)
            };
            // A plan that found nothing to do was not in anybody's way.
            if !(configurations.is_empty() && continued.is_empty()) {
                crowd.note(matches!(&reply, Reply::Claims(claims) if claims.iter().any(mine)));
            }
        }
    }

    /// Puts a configuration into the queue, ahead of everything that was proposed. Returns the number of its trial.
    /// Doing so again with the same key gives the same trial.
    pub fn enqueue(&self, key: &str, configuration: Configuration) -> Result<u64> {
        let ids = self.add(&[Addition::queued(key, configuration)])?;
        ids.first().copied().ok_or_else(|| {
            Error::corrupt(&self.settings.name, "answer to an addition", "it names no trial")
        })
    }

    /// Adds trials that the method did not propose, all or none of them. Returns their numbers.
    pub fn add(&self, additions: &[Addition]) -> Result<Vec<u64>> {
        for addition in additions {
            self.settings.space.encode(&addition.configuration)?;
            self.settings.space.check_known(&addition.configuration)?;
            self.check_outcome(0, addition.outcome.as_ref())?;
            addition.steps.iter().try_for_each(|step| self.settings.goal.check(0, step))?;
        }
        let in_form = |addition: &Addition| Addition {
            outcome: addition.outcome.as_ref().map(|outcome| self.in_form(outcome).into_owned()),
            ..addition.clone()
        };
        match self.settings.goal.partial() {
            None => self.store.add(&self.settings.name, additions),
            Some(_) => {
                let additions: Vec<Addition> = additions.iter().map(in_form).collect();
                self.store.add(&self.settings.name, &additions)
            }
        }
    }

    /// Renews the lease of a token (heartbeat). Call it a few times within the length of a lease.
    pub fn heartbeat(&self, token: Token) -> Result<()> {
        self.store.heartbeat(&self.settings.name, token)
    }

    /// Renews the leases of many tokens at once. Returns those that were refused, and why.
    pub fn heartbeats(&self, tokens: &[Token]) -> Result<Vec<Refused>> {
        self.store.heartbeats(&self.settings.name, tokens)
    }

    /// Stores steps of a running trial and renews its lease. Reporting again what was reported changes nothing.
    pub fn report(&self, token: Token, steps: &[Measurement]) -> Result<()> {
        let report = Report { token, steps: steps.to_vec() };
        match self.reports(std::slice::from_ref(&report))?.pop() {
            Some(refused) => Err(refused.error),
            None => Ok(()),
        }
    }

    /// Stores steps of many trials at once. Returns the tokens that were refused, and why.
    pub fn reports(&self, reports: &[Report]) -> Result<Vec<Refused>> {
        for Report { token, steps } in reports {
            for step in steps {
                match self.settings.goal.check(token.trial, step) {
                    // The store has words of its own for what is not finite.
                    Ok(()) | Err(wimble::Error::NonFinite { .. }) => {}
                    Err(error) => return Err(error.into()),
                }
            }
        }
        self.store.reports(&self.settings.name, reports)
    }

    /// The steps of a trial, in the order of their fidelities.
    pub fn steps(&self, trial: u64) -> Result<Vec<Step>> {
        self.store.steps(&self.settings.name, trial)
    }

    /// Whether running trials should go on, by the study's stopping rule and the steps of all trials. It waits for no
    /// proposal. The first call of a process reads the whole history, later ones what is new.
    pub fn verdicts(&self, trials: &[u64]) -> Result<Vec<Verdict>> {
        let rule = &self.settings.stopping;
        self.follow_curves(|follower| {
            trials.iter().map(|&trial| follower.verdict(trial, rule)).collect()
        })
    }

    /// The same, for trials whose present evaluations are at these fidelities; see [`Follower::verdict_at`].
    pub(crate) fn verdicts_at(&self, trials: &[(u64, f64)]) -> Result<Vec<Verdict>> {
        let rule = &self.settings.stopping;
        self.follow_curves(|follower| {
            trials.iter().map(|&(trial, at)| follower.verdict_at(trial, at, rule)).collect()
        })
    }

    /// How much of all evaluations was carried out, in the unit of the fidelity: what [`Follower::spent`] says.
    pub fn spent(&self) -> Result<f64> {
        self.follow_curves(|follower| Ok(follower.spent()))
    }

    fn follow_curves<T>(&self, look: impl FnOnce(&Follower) -> Result<T>) -> Result<T> {
        let curves = self.curves.lock();
        let mut curves = curves.map_err(|_| self.panicked("taking the lock of its curves"))?;
        let follower = curves.get_or_insert_with(|| Follower::new(&self.settings));
        follower.catch_up(&*self.store)?;
        look(follower)
    }

    /// Finishes a trial. Once this returns, the outcome is stored. Telling again with the same `client_key` is harmless.
    pub fn tell(&self, token: Token, outcome: &Outcome, client_key: &str) -> Result<()> {
        self.tell_with(token, outcome, &Attributes::default(), client_key)
    }

    /// Finishes a trial with attributes.
    pub fn tell_with(
        &self,
        token: Token,
        outcome: &Outcome,
        attributes: &Attributes,
        client_key: &str,
    ) -> Result<()> {
        self.check_outcome(token.trial, Some(outcome))?;
        let outcome = &self.in_form(outcome);
        let tell = Tell { token, outcome, attributes, key: client_key };
        self.store.tell_with(&self.settings.name, &tell)
    }

    /// Gives a trial back to the queue, for a worker that is interrupted.
    pub fn release(&self, token: Token) -> Result<()> {
        self.store.release(&self.settings.name, token)
    }

    /// Pauses a running trial, for a worker that came to the fidelity of its claim: an ask that plans may continue it.
    pub fn pause_trial(&self, token: Token) -> Result<()> {
        self.store.pause_trial(&self.settings.name, token)
    }

    /// Whether asks here may plan: the method decides by learning curves which trials to pause and continue, and the study leaves
    /// that to it by the stopping rule `auto`. Values that are given for all proposals leave nothing to decide.
    pub fn can_plan(&self) -> Result<bool> {
        let Settings { goal, stopping, .. } = &self.settings;
        if goal.partial().is_none() || stopping.rule != Rule::Auto || self.fixed.is_some() {
            return Ok(false);
        }
        let mut model = self.model()?;
        let (_, strategy, _) = model.parts(&self.settings)?;
        Ok(strategy.reads_curves(goal))
    }

    /// Gives the trials that earlier incarnations of a worker hold to its new one. Returns how many.
    pub fn resume(&self, resume: &Resume<'_>) -> Result<usize> {
        self.store.resume(&self.settings.name, resume)
    }

    /// Changes how many trials the study may have. Trials that exist stay.
    pub fn set_budget(&self, budget: u64) -> Result<()> {
        self.settings.clone().budget(budget).check()?;
        self.store.set_budget(&self.settings.name, budget)
    }

    /// Pauses the study for all workers, or lets it go on. What runs is finished; no trial begins.
    pub fn set_paused(&self, paused: bool) -> Result<()> {
        self.store.set_paused(&self.settings.name, paused)
    }

    /// Whether it is paused.
    pub fn is_paused(&self) -> Result<bool> {
        Ok(self.store.study(&self.settings.name)?.paused)
    }

    /// Writes a note on a trial, in the place of the one that was there; an empty text removes it.
    pub fn note(&self, trial: u64, text: &str) -> Result<()> {
        self.store.note(&self.settings.name, trial, text)
    }

    /// The notes on trials, in the order of the trials.
    pub fn notes(&self) -> Result<Vec<Note>> {
        self.store.notes(&self.settings.name)
    }

    /// The trial with the best value so far; of equal values, the one told first. With constraints, the best that meets
    /// them; as long as none does, the one with the smallest total violation, which is marked as violating. With several
    /// objectives, the best by the first. Trials that were stopped early count only as long as no other has a value, and of
    /// those the ones that went furthest; so do paused ones.
    ///
    /// Where values are noisy, the best of many may just be lucky: [`Self::recommend`] says which trial to keep.
    pub fn best(&self) -> Result<Option<Best>> {
        let best = self.best_trials(1)?.pop();
        let best = best.and_then(|trial| trial.into_best(&self.settings.goal));
        // Paused trials are compared as long as none is whole.
        let is_whole = best.as_ref().is_some_and(|best| best.fidelity.is_none());
        if is_whole || self.settings.goal.partial().is_none() {
            return Ok(best);
        }
        let mut all: Vec<Best> = best.into_iter().collect();
        let paused = Filter { stage: Some(Stage::Paused), ..Filter::default() };
        for trial in self.each_trial(&paused) {
            let trial = trial?;
            let Some(Step { measurement, .. }) = self.steps(trial.id)?.pop() else { continue };
            let Some(value) = measurement.value() else { continue };
            let violating = self.settings.goal.is_violated_by(&measurement);
            let (trial, configuration, fidelity) =
                (trial.id, trial.configuration, measurement.fidelity);
            all.push(Best { trial, configuration, value, violating, fidelity });
        }
        let turn = |best: &Best| self.settings.goal.first_direction().turn(best.value);
        let further =
            |a: &Best, b: &Best| b.fidelity.unwrap_or(0.0).total_cmp(&a.fidelity.unwrap_or(0.0));
        Ok(all.into_iter().min_by(|a, b| {
            further(a, b).then(a.violating.cmp(&b.violating)).then(turn(a).total_cmp(&turn(b)))
        }))
    }

    /// The trial to keep, with the value that was told for it. If the method has a model that finds noise in the
    /// values, this is the best trial by the model; otherwise it is the [`best`](Self::best).
    ///
    /// Costs as much as asking: the first call of a process reads the whole history.
    pub fn recommend(&self) -> Result<Option<Best>> {
        let mut model = self.model()?;
        let (follower, strategy, _) = model.parts(&self.settings)?;
        follower.catch_up(&*self.store)?;
        let recommended = follower.recommend(strategy)?;
        drop(model);
        // The configuration as it was told: encoding and decoding one from elsewhere may change its last digits.
        let trial = recommended.map(|best| self.trial(best.trial)).transpose()?;
        Ok(trial.and_then(|trial| trial.into_best(&self.settings.goal)))
    }

    /// The numbers of the trials to keep of several objectives, best first by the first objective as told: by the method's
    /// model where values are noisy and it has one, otherwise the [`front`](Self::front).
    ///
    /// Costs as much as asking: the first call of a process reads the whole history.
    pub fn recommend_front(&self) -> Result<Vec<u64>> {
        let mut model = self.model()?;
        let (follower, strategy, _) = model.parts(&self.settings)?;
        follower.catch_up(&*self.store)?;
        follower.recommend_front(strategy)
    }

    /// What the method predicts for each configuration; `None` if it has no model, or nothing to learn from yet.
    ///
    /// Costs as much as asking: the first call of a process reads the whole history.
    pub fn predict(&self, configurations: &[Configuration]) -> Result<Option<Vec<Forecast>>> {
        let mut model = self.model()?;
        let (follower, strategy, _) = model.parts(&self.settings)?;
        follower.catch_up(&*self.store)?;
        follower.predict(strategy, configurations)
    }

    /// What each parameter does to an objective or a constrained quantity, given by its name; any method will do, since
    /// this has a model of its own.
    ///
    /// The first call of a process reads the whole history.
    pub fn importance(&self, quantity: &str) -> Result<Importance> {
        let mut model = self.model()?;
        model.follower.catch_up(&*self.store)?;
        model.follower.importance(quantity)
    }

    /// The best trials, best first, `count` at most. With constraints, only trials that meet them; as long as none does,
    /// the one with the smallest total violation. With several objectives, the front, best first by the first objective.
    pub fn best_trials(&self, count: usize) -> Result<Vec<Trial>> {
        let (name, goal) = (&self.settings.name, &self.settings.goal);
        if goal.is_single() {
            return self.store.best(name, count);
        }
        let several = goal.objectives().len() > 1;
        let (chosen, meeting, nearest, reached) = self.standing(|standing| {
            let nearest = standing.nearest().map(|nearest| nearest.trial);
            let chosen = if several { standing.front() } else { standing.leaders().collect() };
            (chosen, standing.meeting(), nearest, standing.reached())
        })?;
        // A few of the best are at hand; all of them, if there are no more. The store ranks whole evaluations only.
        if several || count <= chosen.len() || meeting == chosen.len() as u64 || reached.is_some() {
            let chosen = chosen.into_iter().chain(nearest).take(count);
            return chosen.map(|trial| self.trial(trial)).collect();
        }
        // The store has all values in order, violating trials among them: read on until there are enough others.
        let mut read = count.saturating_mul(2);
        loop {
            let mut trials = self.store.best(name, read)?;
            let is_all = trials.len() < read;
            trials.retain(|trial| !trial.is_violating(goal));
            if is_all || trials.len() >= count {
                trials.truncate(count);
                return Ok(trials);
            }
            read = read.saturating_mul(4);
        }
    }

    /// The trials that no other dominates, among those that meet all constraints, with their hypervolume. With one
    /// objective, the trials with the best value.
    pub fn front(&self) -> Result<Front> {
        let (front, reference, hypervolume, beyond_reference) = self.standing(|standing| {
            let reference = standing.reference().unwrap_or_default();
            let beyond = standing.beyond_reference();
            (standing.front(), reference, standing.hypervolume(), beyond)
        })?;
        let trials: Result<Vec<Trial>> = front.into_iter().map(|trial| self.trial(trial)).collect();
        Ok(Front { trials: trials?, reference, hypervolume: hypervolume?, beyond_reference })
    }

    /// Looks at which trials stand out, by their numbers. It waits for no proposal. The first look of a process reads the
    /// whole history, later ones what is new.
    pub fn standing<T>(&self, look: impl FnOnce(&Standing) -> T) -> Result<T> {
        let mut watch =
            self.watch.lock().map_err(|_| self.panicked("taking the lock of its front"))?;
        watch.catch_up(&self.settings.name, &*self.store).map(look)
    }

    /// How many trials are queued, running and finished.
    pub fn counts(&self) -> Result<Counts> {
        self.store.counts(&self.settings.name)
    }

    /// How far the study is: how many trials wait, run and are finished.
    pub fn progress(&self) -> Result<Progress> {
        let counts = self.counts()?;
        let (queued, running, paused) = (counts.queued, counts.running, counts.paused);
        Ok(Progress { queued, running, paused, finished: counts.finished() })
    }

    /// The trial of this number.
    pub fn trial(&self, trial: u64) -> Result<Trial> {
        self.store.trial(&self.settings.name, trial)
    }

    /// Trials in the order of their numbers.
    pub fn trials(&self, filter: &Filter) -> Result<Vec<Trial>> {
        self.store.trials(&self.settings.name, filter)
    }

    /// The same one after the other, read in pages: what is in memory does not depend on how many there are. A trial that
    /// changes meanwhile appears once, as it is when its page is read.
    pub fn each_trial<'s>(
        &'s self,
        filter: &Filter,
    ) -> impl Iterator<Item = Result<Trial>> + use<'s> {
        let mut filter = filter.clone();
        let mut left = filter.limit.unwrap_or(usize::MAX);
        let mut page: std::vec::IntoIter<Trial> = Vec::new().into_iter();
        let (mut over, mut size) = (false, PAGE);
        std::iter::from_fn(move || {
            while page.len() == 0 && !over && left > 0 {
                filter.limit = Some(left.min(size));
                match self.trials(&filter) {
                    Ok(trials) => {
                        over = trials.len() < left.min(size);
                        left -= trials.len();
                        filter.from = trials.last().map_or(filter.from, |trial| trial.id + 1);
                        page = trials.into_iter();
                    }
                    // One by one from here on, so that those that can be read are.
                    Err(Error::Corrupt { .. }) if size > 1 => size = 1,
                    Err(error @ Error::Corrupt { .. }) => {
                        filter.from += 1;
                        return Some(Err(error));
                    }
                    Err(error) => {
                        over = true;
                        return Some(Err(error));
                    }
                }
            }
            page.next().map(Ok)
        })
    }

    /// The settings that the study was opened with.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// The store that keeps it.
    pub fn store(&self) -> &Arc<dyn Store> {
        &self.store
    }

    /// An outcome as it is stored: a measurement at the highest fidelity is one of the whole evaluation.
    fn in_form<'o>(&self, outcome: &'o Outcome) -> Cow<'o, Outcome> {
        match outcome {
            Outcome::Measured(told) if self.settings.goal.part(told) != told.fidelity => {
                Cow::Owned(Outcome::Measured(Measurement { fidelity: None, ..told.clone() }))
            }
            outcome => Cow::Borrowed(outcome),
        }
    }

    /// Refuses a measurement that does not fit the goal.
    fn check_outcome(&self, trial: u64, outcome: Option<&Outcome>) -> Result<()> {
        match outcome.and_then(Outcome::measurement) {
            Some(measurement) => match self.settings.goal.check(trial, measurement) {
                // Values that are not finite have an error of their own.
                Ok(()) | Err(wimble::Error::NonFinite { .. }) => Ok(()),
                Err(error) => Err(error.into()),
            },
            None => Ok(()),
        }
    }

    fn model(&self) -> Result<MutexGuard<'_, Model>> {
        self.model.lock().map_err(|_| self.panicked("taking the lock of its model"))
    }

    fn panicked(&self, doing: &'static str) -> Error {
        Error::Backend {
            place: format!("study `{}`", self.settings.name),
            doing,
            source: "a thread that held it panicked; open the study anew".into(),
        }
    }
}

fn strategy(settings: &Settings) -> Result<Box<dyn Strategy>> {
    let strategy = settings.method.build(settings.batch_size)?;
    strategy.check(&settings.space, &settings.goal)?;
    Ok(strategy)
}
