//! The command and its surroundings.

use std::collections::BTreeMap;

use wimble::space::SearchSpace;

use super::super::document::{Content, Node};
use super::super::{
    Argument, CommandLine, DEFAULT_GRACE, Evaluation, INFEASIBLE_EXIT, StartIn, Template,
    Unreadable,
};
use super::Reader;

impl Reader<'_> {
    pub(super) fn evaluation(&mut self, space: Option<&SearchSpace>) -> Option<Evaluation> {
        let timeout = self.duration("timeout");
        let grace = self.duration("grace");
        let retries = self.integer("retries", 0..=1_000_000);
        let infeasible_exit = self.integer("infeasible-exit", 1..=125);
        let start_in =
            self.word("start-in", &[("study-file", StartIn::StudyFile), ("trial", StartIn::Trial)]);
        let folders = self.table.get("folders").and_then(|entry| self.text_of(entry));
        if start_in == Some(StartIn::Trial) && self.table.get("folders").is_none() {
            let message = "start-in = \"trial\" needs `folders`, where each trial has its own";
            self.refuse(self.place("start-in"), message);
        }
        let environment = self.environment(space);
        let command = self.command(space)?;
        Some(Evaluation {
            command,
            environment,
            timeout,
            grace: grace.unwrap_or(DEFAULT_GRACE),
            retries: retries.and_then(|retries| u32::try_from(retries).ok()).unwrap_or(0),
            infeasible_exit: infeasible_exit
                .and_then(|code| i32::try_from(code).ok())
                .unwrap_or(INFEASIBLE_EXIT),
            folders: folders.map(Into::into),
            start_in: start_in.unwrap_or_default(),
        })
    }

    fn command(&mut self, space: Option<&SearchSpace>) -> Option<CommandLine> {
        let entry = self.table.get("command")?;
        let allowed = "a list of arguments such as [\"python3\", \"train.py\", \"{rate}\"]; there is no shell";
        let Content::List(nodes) = &entry.node.content else {
            self.wrong_kind(entry, allowed);
            return None;
        };
        if nodes.is_empty() {
            self.refuse(
                entry.node.span.clone(),
                format!("command is empty, but must be {allowed}"),
            );
            return None;
        }
        let arguments: Vec<Option<Argument>> = nodes
            .iter()
            .map(|node| match &node.content {
                Content::Text(text) => {
                    let template = self.template(node, text, space)?;
                    self.check_always_there(node, &template, space);
                    Some(Argument::One(template))
                }
                Content::List(group) => {
                    let templates: Vec<Option<Template>> = group
                        .iter()
                        .map(|node| match &node.content {
                            Content::Text(text) => self.template(node, text, space),
                            _ => {
                                let message = format!(
                                    "an argument is text, not {}; put it in quotes",
                                    node.kind()
                                );
                                self.refuse(node.span.clone(), message);
                                None
                            }
                        })
                        .collect();
                    Some(Argument::Group(templates.into_iter().collect::<Option<_>>()?))
                }
                _ => {
                    let message =
                        format!("an argument is text, not {}; put it in quotes", node.kind());
                    self.refuse(node.span.clone(), message);
                    None
                }
            })
            .collect();
        if let Some(Argument::Group(_)) = arguments.first().and_then(Option::as_ref) {
            self.refuse(nodes[0].span.clone(), "the program, which comes first, cannot be a group");
        }
        if let Content::Text(program) = &nodes[0].content
            && program.trim().is_empty()
        {
            self.refuse(nodes[0].span.clone(), "the program, which comes first, has no name");
        }
        arguments.into_iter().collect::<Option<_>>().map(CommandLine)
    }

    /// A conditional parameter outside a group would leave a flag without its value.
    fn check_always_there(
        &mut self,
        node: &Node,
        template: &Template,
        space: Option<&SearchSpace>,
    ) {
        let conditional = |name: &&str| {
            space.is_some_and(|space| {
                space
                    .parameters()
                    .any(|parameter| parameter.name == *name && parameter.condition.is_some())
            })
        };
        if let Some(name) = template.placeholders().find(conditional) {
            let message = format!(
                "`{name}` has a value only where its condition holds; put the argument, with its flag, in a list of \
                 its own, which is left out otherwise: [\"--{name}\", \"{{{name}}}\"]"
            );
            self.refuse(self.within(&node.span, &format!("{{{name}}}")), message);
        }
    }

    fn environment(&mut self, space: Option<&SearchSpace>) -> BTreeMap<String, Template> {
        let Some(entry) = self.table.get("environment") else { return BTreeMap::new() };
        let Content::Table(table) = &entry.node.content else {
            self.wrong_kind(entry, "a table of names and texts");
            return BTreeMap::new();
        };
        let mut variables = BTreeMap::new();
        for entry in &table.0 {
            if entry.key.is_empty()
                || entry.key.contains(['=', '\0'])
                || entry.key.starts_with("WIMBLE_")
            {
                let message = "an environment variable has a name without `=`, and WIMBLE_… are set by wimble";
                self.refuse(entry.key_span.clone(), message);
            }
            if let Some(text) = self.text_of(entry)
                && let Some(template) = self.template(&entry.node, text, space)
            {
                variables.insert(entry.key.clone(), template);
            }
        }
        variables
    }

    fn template(
        &mut self,
        node: &Node,
        text: &str,
        space: Option<&SearchSpace>,
    ) -> Option<Template> {
        let fidelity = match self.table.get("fidelity").map(|entry| &entry.node.content) {
            Some(Content::Table(table)) => table.0.first().map(|entry| entry.key.as_str()),
            _ => None,
        };
        let read = Template::parse(text).and_then(|template| {
            if let Some(space) = space {
                template.check(space, fidelity)?;
            }
            Ok(template)
        });
        match read {
            Ok(template) => Some(template),
            Err(Unreadable { part, message }) => {
                self.refuse(self.within(&node.span, &part), message);
                None
            }
        }
    }
}
