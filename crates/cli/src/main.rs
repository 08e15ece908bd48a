//! `surakarta`: the rules, self-play, training and rating of Surakarta from the command line.

mod analyse;
mod arena;
mod bench;
mod book;
mod contest;
mod dataset;
mod doctor;
mod engine;
mod interrupt;
mod r#match;
mod moves;
mod net;
mod networks;
mod output;
mod perft;
mod play;
mod rate;
mod report;
mod run;
mod selfplay;
mod sprt;
mod start;
mod tablebase;
mod tables;
mod terminal;
mod train;
mod ugi;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Self-play, training and rating for the board game Surakarta.
///
/// Data goes to stdout, progress and messages to stderr. Every command explains itself with --help.
#[derive(Parser)]
#[command(name = "surakarta", version, propagate_version = true)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
    /// Say less: warnings and errors only.
    #[arg(long, short, global = true, conflicts_with = "verbose")]
    quiet: bool,
    /// Say more.
    #[arg(long, short, global = true)]
    verbose: bool,
}

#[derive(Subcommand)]
enum Command {
    Run(run::Arguments),
    Selfplay(selfplay::Arguments),
    Train(train::Arguments),
    Arena(arena::Arguments),
    Match(Box<r#match::Arguments>),
    Book(book::Arguments),
    Rate(rate::Arguments),
    Play(play::Arguments),
    Analyse(analyse::Arguments),
    Ugi(ugi::Arguments),
    Contest(contest::Arguments),
    Report(report::Arguments),
    Dataset(dataset::Arguments),
    Tablebase(tablebase::Arguments),
    Perft(perft::Arguments),
    Moves(moves::Arguments),
    Net(net::Arguments),
    Bench(bench::Arguments),
    Doctor(doctor::Arguments),
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let level = match (arguments.quiet, arguments.verbose) {
        (true, _) => "warn",
        (_, true) => "debug",
        _ => "info",
    };
    let quiet = arguments.quiet;
    let bars = terminal::open(level, quiet);
    let done = match arguments.command {
        Command::Run(arguments) => run::main(arguments, &bars),
        Command::Selfplay(arguments) => selfplay::main(arguments, &bars),
        Command::Train(arguments) => train::main(arguments, &bars),
        Command::Arena(arguments) => arena::main(arguments),
        Command::Match(arguments) => r#match::main(*arguments),
        Command::Book(arguments) => book::main(arguments, &bars),
        Command::Rate(arguments) => rate::main(arguments),
        Command::Play(arguments) => play::main(arguments),
        Command::Analyse(arguments) => analyse::main(arguments, quiet),
        Command::Ugi(arguments) => ugi::main(arguments),
        Command::Contest(arguments) => contest::main(arguments),
        Command::Report(arguments) => report::main(arguments),
        Command::Dataset(arguments) => dataset::main(arguments),
        Command::Tablebase(arguments) => tablebase::main(arguments, &bars),
        Command::Perft(arguments) => perft::main(arguments),
        Command::Moves(arguments) => moves::main(arguments),
        Command::Net(arguments) => net::main(arguments),
        Command::Bench(arguments) => bench::main(arguments),
        Command::Doctor(arguments) => doctor::main(arguments),
    };
    match done {
        Ok(()) if interrupt::asked() => ExitCode::from(130),
        Ok(()) => ExitCode::SUCCESS,
        // Whoever read our output has seen enough.
        Err(error) if output::is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            output::say(format_args!("error: {}", message(&error)));
            if interrupt::asked() { ExitCode::from(130) } else { ExitCode::FAILURE }
        }
    }
}

/// The error and its causes in one line; a cause that an outer message has quoted is not said again.
fn message(error: &anyhow::Error) -> String {
    let mut message = String::new();
    for cause in error.chain().map(|cause| cause.to_string()) {
        if message.is_empty() {
            message = cause;
        } else if !message.contains(&cause) {
            message = format!("{message}: {cause}");
        }
    }
    message
}
