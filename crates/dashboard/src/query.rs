//! The parameters in the query of a request.

/// The parameters of a query.
pub(crate) struct Query(Vec<(String, String)>);

impl Query {
    /// The query of these parameters.
    pub(crate) const fn of(parameters: Vec<(String, String)>) -> Self {
        Self(parameters)
    }

    /// The value of a parameter; empty if the query lacks it.
    pub(crate) fn text(&self, name: &str) -> &str {
        self.given(name).unwrap_or_default()
    }

    /// The value of a parameter, if the query has it.
    pub(crate) fn given(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(parameter, _)| parameter == name).map(|(_, value)| value.as_str())
    }

    /// The values of all parameters with this name.
    pub(crate) fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        self.0.iter().filter(move |(parameter, _)| parameter == name).map(|(_, value)| value.as_str())
    }
}
