//! Problems that are shown together, and the tools that run on any of them.

use super::settings::{Settings, Subject, Suite, Tool};

/// Some problems of the comparison.
#[derive(Debug, Clone, PartialEq)]
pub struct Group<'s> {
    /// In the order of the settings.
    pub subjects: Vec<&'s Subject>,
    /// Those that are meant to run on at least one of the problems, in the order of the settings.
    pub tools: Vec<&'s Tool>,
}

impl<'s> Group<'s> {
    /// All problems of a suite.
    pub fn suite(settings: &'s Settings, suite: Suite) -> Self {
        Self::of(settings, |subject| subject.suite == suite)
    }

    /// The functions that slow tools run on too.
    pub fn sample(settings: &'s Settings) -> Self {
        Self::of(settings, |subject| subject.suite == Suite::Functions && subject.sample)
    }

    /// The problems of a suite whose observations are noisy.
    pub fn noisy(settings: &'s Settings, suite: Suite) -> Self {
        Self::of(settings, |subject| {
            let is_noisy = subject.suite == Suite::Fcnet || subject.name.contains("+noise");
            subject.suite == suite && is_noisy
        })
    }

    fn of(settings: &'s Settings, is_in: impl Fn(&Subject) -> bool) -> Self {
        let subjects: Vec<&Subject> =
            settings.problems.iter().filter(|subject| is_in(subject)).collect();
        let runs = |tool: &&Tool| subjects.iter().any(|subject| tool.runs_on(subject));
        let tools = settings.tools.iter().filter(runs).collect();
        Self { subjects, tools }
    }

    /// The problems that a tool is meant to run on; it may have records on others, too.
    pub fn meant(&self, tool: &Tool) -> Vec<&'s Subject> {
        self.subjects.iter().copied().filter(|subject| tool.runs_on(subject)).collect()
    }

    /// The evaluations of the longest run.
    pub fn evaluations(&self, settings: &Settings) -> usize {
        let pairs = self.subjects.iter().flat_map(|on| self.tools.iter().map(move |of| (of, on)));
        pairs.map(|(tool, subject)| settings.evaluations_of(tool, subject)).max().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slow_tools_are_meant_for_the_sample_and_boxes_for_no_tables() {
        let settings = Settings::published().unwrap();
        let tool = |name: &str| settings.tools.iter().find(|tool| tool.name == name).unwrap();
        let (functions, sample) =
            (Group::suite(&settings, Suite::Functions), Group::sample(&settings));
        assert_eq!(
            (functions.meant(tool("hebo")).len(), functions.meant(tool("auto")).len()),
            (8, 24)
        );
        assert_eq!((sample.meant(tool("hebo")).len(), sample.meant(tool("auto")).len()), (8, 8));
        assert_eq!(functions.tools.len(), settings.tools.len());
        let tables = Group::suite(&settings, Suite::Fcnet);
        assert!(!tables.tools.contains(&tool("pycma")) && tables.tools.contains(&tool("smac")));
        assert_eq!(tables.evaluations(&settings), 510);
        let noisy = Group::noisy(&settings, Suite::Functions);
        assert_eq!(noisy.subjects.len(), 5);
        assert!(Group::noisy(&settings, Suite::Racing).subjects.is_empty());
    }
}
