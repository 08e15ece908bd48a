//! The keys of each kind of player: name, what it accepts, and where the value goes. Reading, showing
//! and error messages all come from these tables.

use std::path::PathBuf;
use std::time::Duration;

use super::{DescentSpec, EngineSpec, MctsSpec, NetRef};
use crate::descent;
use crate::mcts::MOST_SIMULATIONS;
use crate::{AlphaBetaConfig, Method, RolloutConfig};

/// One key of the players configured by a `C`.
pub(super) struct Key<C> {
    pub(super) name: &'static str,
    /// What a value looks like, as the object of "write".
    pub(super) accepts: &'static str,
    /// Reads a value into its place; `None` if it is not one.
    pub(super) read: fn(&mut C, &str) -> Option<()>,
    /// The value as it is written; `None` if there is none.
    pub(super) show: fn(&C) -> Option<String>,
    /// Whether it is shown even where it is the default.
    pub(super) always: bool,
}

/// How the values of a type are written.
struct Form<T> {
    accepts: &'static str,
    read: fn(&str) -> Option<T>,
    show: fn(&T) -> Option<String>,
}

macro_rules! keys {
    ($config:ty: $($name:literal $form:ident $($field:ident).+ $($always:ident)?;)*) => {
        &[$(Key::<$config> {
            name: $name,
            accepts: $form.accepts,
            read: |config, text| {
                config.$($field).+ = ($form.read)(text)?;
                Some(())
            },
            show: |config| ($form.show)(&config.$($field).+),
            always: keys!(@ $($always)?),
        }),*]
    };
    (@ always) => { true };
    (@) => { false };
}

/// Keys of `rollout`.
pub(super) const ROLLOUT: &[Key<RolloutConfig>] = keys! { RolloutConfig:
    "sims" SOME_COUNT limits.simulations always;
    "ms" MILLISECONDS limits.time always;
    "c" NUMBER exploration;
    "playouts" PLAYOUTS playouts;
    "playout-plies" COUNT playout_plies;
};

/// Keys of `alphabeta`.
pub(super) const ALPHABETA: &[Key<AlphaBetaConfig>] = keys! { AlphaBetaConfig:
    "nodes" LONG_COUNT limits.nodes always;
    "depth" SOME_COUNT limits.depth always;
    "ms" MILLISECONDS limits.time always;
    "hash" MEBIBYTES table_mib;
    "exact" YES_NO exact;
    "tables" FILE tables;
};

/// Keys of `mcts`.
pub(super) const MCTS: &[Key<MctsSpec>] = keys! { MctsSpec:
    "net" NETWORK net always;
    "sims" SIMULATIONS config.limits.simulations always;
    "ms" MILLISECONDS config.limits.time always;
    "method" METHOD config.search.method;
    "considered" CONSIDERED config.search.considered;
    "c-visit" NUMBER config.search.c_visit;
    "c-scale" POSITIVE config.search.c_scale;
    "rescale" YES_NO config.search.rescale_values;
    "c" POSITIVE config.search.c_init;
    "c-base" SOME_NUMBER config.search.c_base;
    "fpu" NUMBER config.search.fpu_reduction;
    "root-fpu" NUMBER config.search.root_fpu_reduction;
    "root-temperature" POSITIVE config.search.root_temperature;
    "margin" NUMBER config.search.margin_weight;
    "noise" YES_NO config.noise;
    "noise-alpha" POSITIVE config.search.noise_alpha;
    "noise-fraction" FRACTION config.search.noise_fraction;
    "temperature" NUMBER config.temperature;
    "temperature-plies" COUNT config.temperature_plies;
    "forced-playouts" NUMBER config.search.forced_playouts;
    "stop-early" YES_NO config.search.stop_early;
    "skip-forced" YES_NO config.search.skip_forced;
    "solve" YES_NO config.search.solve;
    "cache" CACHE config.cache_mib;
    "memory" MEBIBYTES config.memory_mib;
    "reuse" YES_NO config.reuse;
    "symmetries" SYMMETRIES config.symmetries;
    "tables" FILE config.tables;
};

/// Keys of `mcts` that mean nothing with the other method.
pub(super) const fn of_the_other(method: Method) -> &'static [&'static str] {
    match method {
        Method::Puct => &["considered", "c-visit", "c-scale", "rescale"],
        Method::Gumbel => &[
            "c",
            "c-base",
            "fpu",
            "root-fpu",
            "root-temperature",
            "noise-alpha",
            "noise-fraction",
            "stop-early",
            "solve",
            "forced-playouts",
        ],
    }
}
/// Keys of `descent`.
pub(super) const DESCENT: &[Key<DescentSpec>] = keys! { DescentSpec:
    "net" NETWORK net always;
    "sims" SOME_COUNT config.limits.simulations always;
    "nodes" LONG_COUNT config.limits.nodes always;
    "ms" MILLISECONDS config.limits.time always;
    "method" DESCENT_METHOD config.method;
    "margin" NUMBER config.margin_weight;
    "exploration" FRACTION config.exploration;
    "nodes-max" STATES config.max_states;
};

/// Keys of `ugi`; those that begin with `option.` come on top.
pub(super) const UGI: &[Key<EngineSpec>] = keys! { EngineSpec:
    "cmd" COMMAND cmd always;
    "name" NAME name;
    "nodes" LONG_COUNT limits.nodes always;
    "depth" SOME_COUNT limits.depth always;
    "sims" SOME_COUNT limits.simulations always;
    "ms" MILLISECONDS limits.time always;
    "dir" FILE dir;
    "log" FILE log;
    "start-ms" WAIT start;
    "hang-ms" WAIT hang;
    "margin-ms" WAIT margin;
};

/// Keys of `contest`.
pub(super) const CONTEST: &[Key<EngineSpec>] = keys! { EngineSpec:
    "cmd" COMMAND cmd always;
    "name" NAME name;
    "ms" MILLISECONDS limits.time always;
    "openings" YES_NO openings;
    "dir" FILE dir;
    "log" FILE log;
    "start-ms" WAIT start;
    "hang-ms" WAIT hang;
    "margin-ms" WAIT margin;
};

const COMMAND: Form<String> = Form {
    accepts: "a program and its arguments, separated by spaces and quoted as for a shell",
    read: |text| {
        let words = shell_words::split(text).ok().filter(|_| !text.contains(char::is_control))?;
        let program = words.first()?;
        Some(text.to_owned()).filter(|_| !program.is_empty())
    },
    show: |text| Some(text.clone()),
};

const NAME: Form<Option<String>> = Form {
    accepts: "a name for tables",
    read: |text| line(text).filter(|text| !text.is_empty()).map(Some),
    show: Option::clone,
};

const FILE: Form<Option<PathBuf>> = Form {
    accepts: "a path",
    read: |text| line(text).filter(|text| !text.is_empty()).map(|text| Some(text.into())),
    show: |path| path.as_ref().map(|path| path.display().to_string()),
};

const WAIT: Form<Duration> = Form {
    accepts: "a whole number of milliseconds from 1 to 4294967295",
    read: |text| (MILLISECONDS.read)(text).flatten(),
    show: |time| Some(time.as_millis().to_string()),
};

/// A text that can be a line of a protocol or a table.
pub(super) fn line(text: &str) -> Option<String> {
    Some(text.to_owned()).filter(|text| !text.contains(char::is_control))
}

const SIMULATIONS: Form<Option<u32>> = Form {
    accepts: "a whole number from 1 to 1000000000",
    read: |text| whole(text).filter(|n| (1..=MOST_SIMULATIONS).contains(n)).map(Some),
    show: |value| value.map(|n| n.to_string()),
};

const DESCENT_METHOD: Form<descent::Method> = Form {
    accepts: "ubfm or descent",
    read: |text| descent::Method::ALL.into_iter().find(|method| method.name() == text),
    show: |method| Some(method.name().to_owned()),
};

/// A tree keeps every state in memory.
const STATES: Form<u32> = Form {
    accepts: "a whole number from 1 to 1000000000",
    read: |text| whole(text).filter(|n| (1..=1_000_000_000).contains(n)),
    show: |value| Some(value.to_string()),
};

const SOME_COUNT: Form<Option<u32>> = Form {
    accepts: "a whole number from 1 to 4294967295",
    read: |text| whole(text).filter(|&n| n > 0).map(Some),
    show: |value| value.map(|n| n.to_string()),
};

const LONG_COUNT: Form<Option<u64>> = Form {
    accepts: "a whole number from 1 to 18446744073709551615",
    read: |text| whole(text).filter(|&n| n > 0).map(Some),
    show: |value| value.map(|n| n.to_string()),
};

const METHOD: Form<Method> = Form {
    accepts: "puct or gumbel",
    read: |text| match text {
        "puct" => Some(Method::Puct),
        "gumbel" => Some(Method::Gumbel),
        _ => None,
    },
    show: |value| Some(value.name().to_owned()),
};

const CONSIDERED: Form<u32> = Form {
    accepts: "a whole number from 1 to 4294967295",
    read: |text| whole(text).filter(|&n| n > 0),
    show: |value| Some(value.to_string()),
};

const PLAYOUTS: Form<u32> = Form {
    accepts: "a whole number from 1 to 1000",
    read: |text| whole(text).filter(|n| (1..=1000).contains(n)),
    show: |value| Some(value.to_string()),
};

const COUNT: Form<u32> = Form {
    accepts: "a whole number from 0 to 4294967295",
    read: whole,
    show: |value| Some(value.to_string()),
};

const MEBIBYTES: Form<usize> = Form {
    accepts: "a number of MiB from 1 to 65536",
    read: |text| whole(text).filter(|n| (1..=65536).contains(n)),
    show: |value| Some(value.to_string()),
};

const CACHE: Form<usize> = Form {
    accepts: "a number of MiB from 1 to 65536, or 0 for no cache",
    read: |text| whole(text).filter(|&n| n <= 65536),
    show: |value| Some(value.to_string()),
};

const SYMMETRIES: Form<bool> = Form {
    accepts: "8 for all symmetries of the board, or 1 for the position as it stands",
    read: |text| match text {
        "8" => Some(true),
        "1" => Some(false),
        _ => None,
    },
    show: |value| Some(if *value { "8" } else { "1" }.to_owned()),
};

const MILLISECONDS: Form<Option<Duration>> = Form {
    accepts: "a whole number of milliseconds from 1 to 4294967295",
    read: |text| {
        let milliseconds: u32 = whole(text).filter(|&n| n > 0)?;
        Some(Some(Duration::from_millis(milliseconds as u64)))
    },
    show: |value| value.map(|time| time.as_millis().to_string()),
};

const NUMBER: Form<f32> = Form {
    accepts: "a number, 0 or more",
    read: |text| number(text).filter(|&x| x >= 0.0),
    show: |value| Some(value.to_string()),
};

const POSITIVE: Form<f32> = Form {
    accepts: "a number above 0",
    read: |text| number(text).filter(|&x| x > 0.0),
    show: |value| Some(value.to_string()),
};

const FRACTION: Form<f32> = Form {
    accepts: "a number from 0 to 1",
    read: |text| number(text).filter(|x| (0.0..=1.0).contains(x)),
    show: |value| Some(value.to_string()),
};

const SOME_NUMBER: Form<Option<f32>> = Form {
    accepts: "a number above 0, or none",
    read: |text| match text {
        "none" => Some(None),
        _ => number(text).filter(|&x| x > 0.0).map(Some),
    },
    show: |value| Some(value.map_or("none".to_owned(), |x| x.to_string())),
};

const YES_NO: Form<bool> = Form {
    accepts: "yes or no",
    read: |text| match text {
        "yes" => Some(true),
        "no" => Some(false),
        _ => None,
    },
    show: |value| Some(if *value { "yes" } else { "no" }.to_owned()),
};

const NETWORK: Form<NetRef> = Form {
    accepts: "the path of a weights file, latest or best",
    read: |text| Some(text).filter(|text| !text.is_empty()).map(NetRef::from),
    show: |net| Some(net.to_string()),
};

fn whole<T: std::str::FromStr>(text: &str) -> Option<T> {
    // `parse` alone would take a plus sign.
    let digits = text.bytes().all(|b| b.is_ascii_digit());
    text.parse().ok().filter(|_| digits)
}

fn number(text: &str) -> Option<f32> {
    text.parse().ok().filter(|x: &f32| x.is_finite() && !x.is_sign_negative())
}
