//! Players with a network, and which one.

use std::fmt;
use std::path::PathBuf;

use crate::{DescentConfig, MctsConfig};

/// An [`MctsPlayer`](crate::MctsPlayer) and the network behind it.
#[derive(Clone, Debug, PartialEq)]
pub struct MctsSpec {
    /// The network.
    pub net: NetRef,
    /// How it plays.
    pub config: MctsConfig,
}

/// A [`DescentPlayer`](crate::DescentPlayer) and the network behind it.
#[derive(Clone, Debug, PartialEq)]
pub struct DescentSpec {
    /// The network.
    pub net: NetRef,
    /// How it plays.
    pub config: DescentConfig,
}

/// Which network a player uses.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum NetRef {
    /// The newest of the run.
    Latest,
    /// The highest rated of the run.
    Best,
    /// A weights file, relative to the working directory.
    Path(PathBuf),
}

impl From<&str> for NetRef {
    /// `latest`, `best` or a path; files of these names are `./latest` and `./best`.
    fn from(text: &str) -> NetRef {
        match text {
            "latest" => NetRef::Latest,
            "best" => NetRef::Best,
            "./latest" | "./best" => NetRef::Path(text[2..].into()),
            _ => NetRef::Path(text.into()),
        }
    }
}

impl fmt::Display for NetRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NetRef::Latest => f.write_str("latest"),
            NetRef::Best => f.write_str("best"),
            NetRef::Path(path) => match path.to_str() {
                Some(name @ ("latest" | "best")) => write!(f, "./{name}"),
                _ => path.display().fmt(f),
            },
        }
    }
}
