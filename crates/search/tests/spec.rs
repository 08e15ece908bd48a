//! The strings that name players.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use proptest::prelude::*;
use surakarta_game::{Game, OLYMPIAD, Variant};
use surakarta_net::{Batch, Evaluator, EvaluatorError};
use surakarta_search::descent;
use surakarta_search::{
    AlphaBetaConfig, DescentConfig, DescentSpec, EngineSpec, Limits, MctsConfig, MctsSpec, Method,
    NetRef, Player, PlayerSpec, PlayerSpecError, Protocol, RolloutConfig, SearchConfig, Supply,
};
use surakarta_tablebase::Tables;

fn parse(text: &str) -> PlayerSpec {
    text.parse().unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn error(text: &str) -> String {
    text.parse::<PlayerSpec>().unwrap_err().to_string()
}

fn mcts(text: &str) -> MctsSpec {
    match parse(text) {
        PlayerSpec::Mcts(spec) => spec,
        other => panic!("{other}"),
    }
}

#[test]
fn every_kind_is_read_and_shown_in_full() {
    for (text, shown) in [
        ("random", "random"),
        (" greedy ", "greedy"),
        ("rollout:sims=400", "rollout:sims=400"),
        ("rollout:ms=15", "rollout:ms=15"),
        ("alphabeta", "alphabeta:nodes=10000"),
        ("alphabeta:nodes=10000", "alphabeta:nodes=10000"),
        ("alphabeta:ms=20", "alphabeta:ms=20"),
        ("alphabeta: hash = 32 , depth = 6", "alphabeta:depth=6,hash=32"),
        ("alphabeta:exact=yes,depth=6", "alphabeta:depth=6,exact=yes"),
        ("alphabeta:exact=no", "alphabeta:nodes=10000"),
        ("mcts:net=best", "mcts:net=best,sims=400"),
        ("mcts:sims=0050,net=a/b.safetensors,c=1.600", "mcts:net=a/b.safetensors,sims=50"),
        ("mcts:net=latest,ms=20,noise=yes", "mcts:net=latest,ms=20,noise=yes"),
        (r#"mcts:net="a, b",c=2"#, r#"mcts:net="a, b",sims=400,c=2"#),
        (r#"mcts:net="a\"b\\c""#, r#"mcts:net="a\"b\\c",sims=400"#),
        (r"mcts:net=C:\nets\a", r"mcts:net=C:\nets\a,sims=400"),
        ("mcts:net=./best,c-base=19652", "mcts:net=./best,sims=400,c-base=19652"),
        ("descent:net=best", "descent:net=best,sims=400"),
        ("descent:net=a,nodes=5000,method=ubfm", "descent:net=a,nodes=5000"),
        (
            "descent:method=descent,net=a,ms=9,exploration=0.50,nodes-max=1000,margin=1",
            "descent:net=a,ms=9,method=descent,margin=1,exploration=0.5,nodes-max=1000",
        ),
        ("ugi:cmd=./engine", "ugi:cmd=./engine"),
        (
            r#"ugi: ms=20, cmd="a -x 'b c', d", option.Hash = 8, name=A"#,
            r#"ugi:cmd="a -x 'b c', d",name=A,ms=20,option.Hash=8"#,
        ),
        ("ugi:cmd=a,start-ms=10000,hang-ms=5,sims=9", "ugi:cmd=a,sims=9,hang-ms=5"),
        ("contest:cmd=a,openings=yes,dir=b", "contest:cmd=a,openings=yes,dir=b"),
        ("contest:cmd=a,openings=no,margin-ms=100", "contest:cmd=a"),
    ] {
        assert_eq!(parse(text).to_string(), shown);
        assert_eq!(parse(shown), parse(text));
    }
}

#[test]
fn limits_that_a_player_takes_no_notice_of_are_named() {
    let counts =
        Limits { simulations: Some(7), nodes: Some(8), depth: Some(9), ..Limits::default() };
    let time = Limits { time: Some(Duration::from_millis(20)), ..Limits::default() };
    for (player, unheeded) in [
        ("random", vec![]),
        ("greedy", vec![]),
        ("rollout", vec!["nodes=8", "depth=9"]),
        ("alphabeta", vec!["sims=7"]),
        ("mcts:net=best", vec!["nodes=8", "depth=9"]),
        ("descent:net=best", vec!["depth=9"]),
        ("ugi:cmd=x", vec!["sims=7"]),
        ("contest:cmd=x", vec!["sims=7", "nodes=8", "depth=9"]),
    ] {
        assert_eq!(parse(player).unheeded(&counts), unheeded, "{player}");
        assert!(parse(player).unheeded(&time).is_empty(), "{player}");
    }
    let simulations = Limits { nodes: None, ..counts };
    assert!(parse("ugi:cmd=x").unheeded(&simulations).is_empty());
}

#[test]
fn values_go_where_they_belong() {
    let limits = |spec: &str| parse(spec).limits();
    let twenty = Some(Duration::from_millis(20));
    assert_eq!(limits("alphabeta:ms=20"), Limits { time: twenty, ..Limits::default() });
    let expected = Limits { depth: Some(6), nodes: Some(9), ..Limits::default() };
    assert_eq!(limits("alphabeta:depth=6,nodes=9"), expected);
    let expected = Limits { simulations: Some(7), ..Limits::default() };
    assert_eq!(limits("mcts:net=best,sims=7"), expected);
    assert_eq!(limits("rollout:sims=7"), expected);
    assert_eq!(limits("random"), Limits::default());

    let expected =
        RolloutConfig { exploration: 1.5, playouts: 3, playout_plies: 80, ..Default::default() };
    assert_eq!(parse("rollout:c=1.5,playouts=3,playout-plies=80"), PlayerSpec::Rollout(expected));

    let spec =
        mcts("mcts:net=x,c=2,c-base=100,fpu=0.3,root-fpu=0,root-temperature=1.1,margin=0.05");
    let search = SearchConfig {
        c_init: 2.0,
        c_base: Some(100.0),
        fpu_reduction: 0.3,
        root_fpu_reduction: 0.0,
        root_temperature: 1.1,
        margin_weight: 0.05,
        ..MctsConfig::default().search
    };
    assert_eq!(spec.config.search, search);
    let spec = mcts(
        "mcts:net=x,noise=yes,noise-alpha=3,noise-fraction=0.1,temperature=0.5,\
         temperature-plies=12,stop-early=no,skip-forced=no,solve=no,forced-playouts=2,cache=64,memory=100,reuse=no,symmetries=8",
    );
    let search = SearchConfig {
        noise_alpha: 3.0,
        noise_fraction: 0.1,
        stop_early: false,
        skip_forced: false,
        solve: false,
        forced_playouts: 2.0,
        ..MctsConfig::default().search
    };
    let expected = MctsConfig {
        search,
        noise: true,
        temperature: 0.5,
        temperature_plies: 12,
        cache_mib: 64,
        memory_mib: 100,
        reuse: false,
        symmetries: true,
        ..MctsConfig::default()
    };
    assert_eq!(spec.config, expected);
    let spec =
        mcts("mcts:net=x,considered=8,method=gumbel,c-visit=30,c-scale=1,rescale=no,margin=0.05");
    let search = SearchConfig {
        method: Method::Gumbel,
        considered: 8,
        c_visit: 30.0,
        c_scale: 1.0,
        rescale_values: false,
        margin_weight: 0.05,
        ..MctsConfig::default().search
    };
    assert_eq!(spec.config.search, search);

    let expected = DescentConfig {
        method: descent::Method::Descent,
        limits: Limits { simulations: Some(7), nodes: Some(9), ..Limits::default() },
        margin_weight: 0.25,
        exploration: 0.5,
        max_states: 1000,
    };
    let text = "descent:net=x,sims=7,nodes=9,method=descent,margin=0.25,exploration=0.5,\
                nodes-max=1000";
    let expected = DescentSpec { net: NetRef::Path("x".into()), config: expected };
    assert_eq!(parse(text), PlayerSpec::Descent(expected));
}

#[test]
fn networks_are_named_or_files() {
    assert_eq!(mcts("mcts:net=latest").net, NetRef::Latest);
    assert_eq!(mcts("mcts:net=best").net, NetRef::Best);
    assert_eq!(mcts("mcts:net=./best").net, NetRef::Path("best".into()));
    assert_eq!(mcts("mcts:net=x=y").net, NetRef::Path("x=y".into()));
    assert_eq!(parse("mcts:net=a").net(), Some(&NetRef::Path("a".into())));
    assert_eq!(parse("greedy").net(), None);
    for kind in ["mcts", "descent"] {
        let player = parse(&format!("{kind}:net=latest,ms=5"));
        assert_eq!(player.net(), Some(&NetRef::Latest));
        assert_eq!(player.with_net(NetRef::Best), parse(&format!("{kind}:net=best,ms=5")));
    }
}

#[test]
fn time_is_noticed() {
    assert!(parse("alphabeta:ms=20,nodes=5").is_timed());
    assert!(parse("mcts:net=best,ms=20").is_timed());
    assert!(parse("descent:net=best,ms=20").is_timed());
    assert!(parse("rollout:ms=1").is_timed());
    for text in ["random", "greedy", "rollout", "alphabeta:depth=3", "mcts:net=best"] {
        assert!(!parse(text).is_timed(), "{text}");
    }
}

#[test]
fn mistakes_are_named_with_their_mend() {
    for (text, expected) in [
        (
            "",
            "`` is not a player; the players are random, greedy, rollout, alphabeta, mcts, descent, ugi, contest",
        ),
        (
            "Random",
            "`Random` is not a player; the players are random, greedy, rollout, alphabeta, mcts, descent, ugi, contest",
        ),
        (
            "minimax:depth=3",
            "`minimax` is not a player; the players are random, greedy, rollout, alphabeta, mcts, descent, ugi, contest",
        ),
        (
            "alphabeta:sims=3",
            "alphabeta has no key `sims`; its keys are nodes, depth, ms, hash, exact, tables",
        ),
        ("random:nodes=3", "random has no key `nodes`; it takes none"),
        (
            "alphabeta:nodes=0",
            "`0` is not a value for `nodes`; write a whole number from 1 to 18446744073709551615",
        ),
        (
            "alphabeta:nodes=+5",
            "`+5` is not a value for `nodes`; write a whole number from 1 to 18446744073709551615",
        ),
        (
            "alphabeta:hash=0",
            "`0` is not a value for `hash`; write a number of MiB from 1 to 65536",
        ),
        (
            "mcts:net=a,sims=many",
            "`many` is not a value for `sims`; write a whole number from 1 to 1000000000",
        ),
        (
            "mcts:net=a,sims=4294967295",
            "`4294967295` is not a value for `sims`; write a whole number from 1 to 1000000000",
        ),
        (
            "mcts:net=a,ms=0.5",
            "`0.5` is not a value for `ms`; write a whole number of milliseconds from 1 to 4294967295",
        ),
        ("mcts:net=a,c=-1", "`-1` is not a value for `c`; write a number above 0"),
        ("mcts:net=a,fpu=-1", "`-1` is not a value for `fpu`; write a number, 0 or more"),
        ("mcts:net=a,c=NaN", "`NaN` is not a value for `c`; write a number above 0"),
        (
            "mcts:net=a,c-base=inf",
            "`inf` is not a value for `c-base`; write a number above 0, or none",
        ),
        (
            "mcts:net=a,root-temperature=0",
            "`0` is not a value for `root-temperature`; write a number above 0",
        ),
        (
            "mcts:net=a,noise-fraction=1.5",
            "`1.5` is not a value for `noise-fraction`; write a number from 0 to 1",
        ),
        ("mcts:net=a,noise=true", "`true` is not a value for `noise`; write yes or no"),
        ("mcts:net=a,method=uct", "`uct` is not a value for `method`; write puct or gumbel"),
        (
            "mcts:net=a,method=gumbel,considered=0",
            "`0` is not a value for `considered`; write a whole number from 1 to 4294967295",
        ),
        (
            "mcts:net=a,c=2,method=gumbel",
            "`c` means nothing with method=gumbel; leave it out or choose the other method",
        ),
        (
            "mcts:net=a,considered=8",
            "`considered` means nothing with method=puct; leave it out or choose the other method",
        ),
        (
            "mcts:net=",
            "`` is not a value for `net`; write the path of a weights file, latest or best",
        ),
        ("mcts:net=a,net=b", "`net` is given twice; leave one of them out"),
        ("mcts:sims=5", "an mcts player needs a network; add net=FILE, net=latest or net=best"),
        ("descent", "a descent player needs a network; add net=FILE, net=latest or net=best"),
        ("descent:net=a,method=mcts", "`mcts` is not a value for `method`; write ubfm or descent"),
        (
            "descent:net=a,nodes-max=2000000000",
            "`2000000000` is not a value for `nodes-max`; write a whole number from 1 to 1000000000",
        ),
        (
            "descent:net=a,depth=4",
            "descent has no key `depth`; its keys are net, sims, nodes, ms, method, margin, exploration, nodes-max",
        ),
        (
            "ugi:ms=5",
            "a player by the ugi protocol needs the program's command line; add cmd=\"...\"",
        ),
        ("contest:cmd='a", "the command line `'a` ends within quotes; close them"),
        (
            "contest:cmd=a,nodes=5",
            "contest has no key `nodes`; its keys are cmd, name, ms, openings, dir, log, start-ms, hang-ms, margin-ms",
        ),
        (
            "ugi:cmd=a,option.=5",
            "`option.` names no option of the program; write option.NAME=VALUE",
        ),
        (
            "ugi:cmd=a,option.hash=5,option.Hash=6",
            "`option.Hash` is given twice; leave one of them out",
        ),
        ("mcts", "an mcts player needs a network; add net=FILE, net=latest or net=best"),
        (
            "mcts:net=a,b",
            "`b` is not key=value; parts are separated by commas, and a value with a comma is quoted",
        ),
        (
            "random:",
            "`` is not key=value; parts are separated by commas, and a value with a comma is quoted",
        ),
    ] {
        assert_eq!(error(text), expected);
    }
    for text in [r#"mcts:net="a"#, r#"mcts:net="a"b"#, r#"mcts:net="a\n""#, r#"mcts:net="a\"#] {
        let found = text.parse::<PlayerSpec>().unwrap_err();
        assert!(matches!(found, PlayerSpecError::Quote(_)), "{text}: {found}");
    }
    let keys = error("mcts:depth=3");
    for key in ["net", "sims", "ms", "c", "c-base", "temperature-plies"] {
        assert!(keys.contains(key), "{keys}");
    }
}

#[test]
fn programs_are_described_in_full() {
    let spec = |text: &str| match parse(text) {
        PlayerSpec::External(spec) => spec,
        other => panic!("{other}"),
    };
    let ugi =
        spec(r#"ugi:cmd="'my engine' -x a\"b\"",name=One,option.Threads=2,option.Eval File=a b"#);
    assert_eq!(ugi.words(), ["my engine", "-x", "ab"]);
    let options = [("Threads", "2"), ("Eval File", "a b")];
    assert_eq!(ugi.options, options.map(|(name, value)| (name.to_owned(), value.to_owned())));
    let named = PlayerSpec::External(ugi);
    assert_eq!(named.name(), "One");
    assert_eq!(parse(&named.to_string()), named);
    assert_eq!(parse("alphabeta").name(), "alphabeta:nodes=10000");

    for (text, openings, sepur) in [
        ("ugi:cmd=a", true, true),
        ("contest:cmd=a", false, false),
        ("contest:cmd=a,openings=yes", true, false),
        ("greedy", true, true),
    ] {
        let spec = parse(text);
        assert_eq!(spec.takes_openings(), openings, "{text}");
        assert_eq!(spec.plays(Variant::Sepur), sepur, "{text}");
        assert!(spec.plays(Variant::Standard));
    }
    // A line of a protocol stays one.
    assert!("ugi:cmd=a,option.x=\"1\nquit\"".parse::<PlayerSpec>().is_err());
    assert!("ugi:cmd=a,name=\"1\n2\"".parse::<PlayerSpec>().is_err());
}

#[test]
fn serde_writes_and_reads_the_string() {
    let spec = parse("mcts:net=a,sims=50,c=2");
    let json = serde_json::to_string(&spec).unwrap();
    assert_eq!(json, r#""mcts:net=a,sims=50,c=2""#);
    assert_eq!(serde_json::from_str::<PlayerSpec>(&json).unwrap(), spec);
    let error = serde_json::from_str::<PlayerSpec>(r#""chess""#).unwrap_err().to_string();
    assert!(error.contains("`chess` is not a player"), "{error}");
}

struct Even;

impl Evaluator for Even {
    fn evaluate(&mut self, batch: &mut Batch) -> Result<(), EvaluatorError> {
        for at in 0..batch.len() {
            let (_, moves, policy, outlook) = batch.item_mut(at);
            policy.fill(1.0 / moves.len() as f32);
            outlook.wdl = [0.0, 1.0, 0.0];
        }
        Ok(())
    }
}

/// Lends a network and has no programs.
#[derive(Default)]
struct Store {
    asked: Vec<NetRef>,
    missing: bool,
}

impl Supply for Store {
    type Error = &'static str;

    fn network(&mut self, net: &NetRef, size: usize) -> Result<Box<dyn Evaluator>, &'static str> {
        assert!(size > 0);
        self.asked.push(net.clone());
        if self.missing { Err("no such file") } else { Ok(Box::new(Even)) }
    }

    fn tables(&mut self, _: &Path) -> Result<Arc<Tables>, &'static str> {
        Err("no such tables")
    }

    fn engine(&mut self, _: &EngineSpec) -> Result<Box<dyn Player>, &'static str> {
        Err("no such program")
    }
}

#[test]
fn every_kind_is_built_and_plays() {
    let game = Game::new(OLYMPIAD);
    for (text, nets, simulations) in [
        ("random", 0, 0),
        ("greedy", 0, 0),
        ("rollout:sims=30", 0, 30),
        ("alphabeta:nodes=500", 0, 0),
        ("mcts:net=best,sims=30,stop-early=no", 1, 30),
        ("descent:net=best,sims=15", 1, 15),
    ] {
        let mut store = Store::default();
        let mut player = parse(text).build(&mut store).unwrap();
        player.new_game(1);
        // The limits of the string hold without any said again.
        let choice = player.choose(&game, &Limits::default()).unwrap();
        assert!(game.legal_moves().contains(&choice.mv), "{text}");
        assert_eq!(choice.work.simulations, simulations, "{text}");
        assert!(choice.work.nodes <= 500);
        assert_eq!(store.asked, vec![NetRef::Best; nets], "{text}");
    }
    let mut empty = Store { missing: true, ..Store::default() };
    assert_eq!(parse("mcts:net=best").build(&mut empty).err(), Some("no such file"));
    assert_eq!(parse("ugi:cmd=x").build(&mut empty).err(), Some("no such program"));
}

fn positive() -> impl Strategy<Value = f32> {
    prop_oneof![0.001f32..100.0, Just(1.0), Just(f32::MIN_POSITIVE), Just(f32::MAX)]
}

fn limits() -> impl Strategy<Value = Limits> {
    let count = prop::option::of(1u32..);
    let time = prop::option::of((1u32..).prop_map(|ms| Duration::from_millis(ms as u64)));
    let nodes = prop::option::of(1u64..);
    (count.clone(), nodes, count, time).prop_map(|(simulations, nodes, depth, time)| Limits {
        simulations,
        nodes,
        depth,
        time,
        clock: None,
    })
}

fn net() -> impl Strategy<Value = NetRef> {
    let path = prop_oneof![r#"[a-z/., "\\=:]{1,12}"#, "\\PC{1,8}", "latest|best"];
    let path = path.prop_map(|text| NetRef::Path(PathBuf::from(text)));
    prop_oneof![Just(NetRef::Latest), Just(NetRef::Best), path]
}

fn tables() -> impl Strategy<Value = Option<PathBuf>> {
    prop::option::of(r#"[a-z/., "\\=:]{0,10}[a-z/]"#.prop_map(|text| PathBuf::from(text.trim())))
}

fn search_config() -> impl Strategy<Value = SearchConfig> {
    let numbers: [_; 7] = std::array::from_fn(|_| positive());
    let flags = any::<[bool; 4]>();
    (numbers, prop::option::of(positive()), 0.0f32..=1.0, flags).prop_map(
        |([c_init, fpu, root_fpu, alpha, temperature, margin, forced], c_base, fraction, flags)| {
            if flags[3] {
                // The method, and keys that mean something with it.
                return SearchConfig {
                    method: Method::Gumbel,
                    considered: ((alpha * 10.0) as u32).max(1),
                    c_visit: fpu,
                    c_scale: c_init,
                    rescale_values: flags[0],
                    margin_weight: margin,
                    skip_forced: flags[1],
                    ..MctsConfig::default().search
                };
            }
            SearchConfig {
                c_init,
                c_base,
                fpu_reduction: fpu,
                root_fpu_reduction: root_fpu,
                noise_alpha: alpha,
                noise_fraction: fraction,
                root_temperature: temperature,
                margin_weight: margin,
                stop_early: flags[0],
                skip_forced: flags[1],
                solve: flags[2],
                forced_playouts: forced,
                ..MctsConfig::default().search
            }
        },
    )
}

/// Keeps the limits that a kind has keys for; without any, its own.
fn apply(usual: Limits, keep: impl Fn(Limits) -> Limits, limits: Limits) -> Limits {
    let kept = keep(limits);
    if kept == Limits::default() { usual } else { kept }
}

fn spec() -> impl Strategy<Value = PlayerSpec> {
    let numbers = (1..=1000u32, any::<u32>());
    let rollout = (limits(), positive(), numbers).prop_map(|(limits, exploration, numbers)| {
        let usual = RolloutConfig::default();
        let (playouts, playout_plies) = numbers;
        let mut config = RolloutConfig { exploration, playouts, playout_plies, ..usual };
        let keep = |limits| Limits { nodes: None, depth: None, ..limits };
        config.limits = apply(config.limits, keep, limits);
        PlayerSpec::Rollout(config)
    });
    let alphabeta = (limits(), 1usize..65536, any::<bool>(), tables());
    let alphabeta = alphabeta.prop_map(|(limits, table_mib, exact, tables)| {
        let keep = |limits| Limits { simulations: None, ..limits };
        let limits = apply(AlphaBetaConfig::default().limits, keep, limits);
        PlayerSpec::AlphaBeta(AlphaBetaConfig { limits, table_mib, exact, tables })
    });
    let play =
        (any::<[bool; 3]>(), positive(), any::<u32>(), (0usize..=65536, 1usize..=65536), tables());
    let mcts = (net(), limits(), search_config(), play).prop_map(
        |(net, limits, search, (flags, temperature, temperature_plies, mebibytes, tables))| {
            // A tree holds every simulation: there are fewer of them at most.
            let simulations = limits.simulations.map(|n| n.min(1_000_000_000));
            let keep = |limits| Limits { simulations, nodes: None, depth: None, ..limits };
            let limits = apply(MctsConfig::default().limits, keep, limits);
            let [noise, reuse, symmetries] = flags;
            let (cache_mib, memory_mib) = mebibytes;
            let config = MctsConfig {
                search,
                limits,
                noise,
                temperature,
                temperature_plies,
                cache_mib,
                memory_mib,
                reuse,
                symmetries,
                tables,
            };
            PlayerSpec::Mcts(MctsSpec { net, config })
        },
    );
    let descent = (net(), limits(), positive(), 0.0f32..=1.0, 1..=1_000_000_000u32).prop_map(
        |(net, limits, margin_weight, exploration, max_states)| {
            let keep = |limits| Limits { depth: None, ..limits };
            let limits = apply(DescentConfig::default().limits, keep, limits);
            let method =
                if exploration < 0.5 { descent::Method::Ubfm } else { descent::Method::Descent };
            let config = DescentConfig { method, limits, margin_weight, exploration, max_states };
            PlayerSpec::Descent(DescentSpec { net, config })
        },
    );
    let words = r#"[a-z/., "\\=:]{1,9}"#;
    let texts = (prop::option::of(words), prop::collection::vec(words, 0..3));
    let waits =
        [1u64..100_000, 1..100_000, 1..100_000].map(|ms| ms.prop_map(Duration::from_millis));
    let external = ("[a-z]{1,4}( [a-z,=:]{1,5}){0,3}", texts, limits(), waits, any::<bool>())
        .prop_map(|(cmd, (name, values), limits, [start, hang, margin], openings)| {
            let options = values.into_iter().enumerate();
            let options = options.map(|(n, value)| (format!("O {n}"), value)).collect();
            let ugi = EngineSpec::new(Protocol::Ugi, &cmd);
            let spec = EngineSpec { name, limits, start, hang, margin, options, ..ugi };
            if openings {
                return PlayerSpec::External(spec);
            }
            let limits = Limits { time: spec.limits.time, ..Limits::default() };
            let spec = EngineSpec { protocol: Protocol::Contest, options: Vec::new(), ..spec };
            PlayerSpec::External(EngineSpec { limits, openings, ..spec })
        });
    let simple = prop_oneof![Just(PlayerSpec::Random), Just(PlayerSpec::Greedy)];
    prop_oneof![simple, rollout, alphabeta, mcts, descent, external]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_shown_is_read_back(spec in spec()) {
        prop_assert_eq!(parse(&spec.to_string()), spec);
    }

    #[test]
    fn no_text_panics(text in r#"(mcts|descent|alphabeta|rollout|random|ugi|contest)?:?([a-z]{0,4}=?"?[0-9a-z\\]{0,3}"?,?){0,4}"#) {
        if let Ok(spec) = text.parse::<PlayerSpec>() {
            prop_assert_eq!(parse(&spec.to_string()), spec);
        }
    }
}
