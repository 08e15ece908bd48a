use std::collections::VecDeque;

use surakarta_game::{Color, Ending, Game, Move, Outcome, RuleSet};
use surakarta_run::play::{Leave, Session};
use surakarta_search::{Choice, Limits, Player, PlayerError, Work};

/// Plays the first of its moves that is legal, else the first legal one, and always states the same
/// value, seen by the opponent whoever is to move.
struct Script {
    color: Color,
    moves: VecDeque<Move>,
    value: Option<f32>,
}

impl Player for Script {
    fn new_game(&mut self, _seed: u64) {}

    fn choose(&mut self, game: &Game, _limits: &Limits) -> Result<Choice, PlayerError> {
        let legal = game.legal_moves();
        let own = game.side_to_move() == self.color;
        let planned = if own { self.moves.pop_front() } else { None };
        let mv = planned.filter(|mv| legal.contains(mv)).unwrap_or(legal[0]);
        let value = self.value.map(|value| if own { value } else { -value });
        Ok(Choice { mv, value, line: vec![mv], work: Work::default() })
    }
}

fn script(color: Color, moves: &str, value: Option<f32>) -> Script {
    Script { color, moves: moves.split_whitespace().map(|m| m.parse().unwrap()).collect(), value }
}

struct Said {
    text: String,
    left: Leave,
    game: Game,
}

fn talk(game: Game, person: Color, mut opponent: Script, typed: &str) -> Said {
    let typed = typed.replace("; ", "\n") + "\n";
    let mut output = Vec::new();
    let mut session = Session::new(game, person, &mut opponent, Limits::default(), 1);
    let left = session.play(&mut typed.as_bytes(), &mut output).unwrap();
    let game = session.game().clone();
    Said { text: String::from_utf8(output).unwrap(), left, game }
}

fn from_start(person: Color, moves: &str, typed: &str) -> Said {
    let opponent = script(person.other(), moves, None);
    talk(Game::new(RuleSet::default()), person, opponent, typed)
}

fn moves(game: &Game) -> String {
    game.moves().iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
}

#[test]
fn both_sides_move_in_turn() {
    let said = from_start(Color::Black, "a5a4 b5b4", "A2A3; b2b3; quit");
    assert_eq!(moves(&said.game), "a2a3 a5a4 b2b3 b5b4");
    assert_eq!(said.left, Leave::Quit);
    assert!(said.text.contains("white plays b5b4"), "{}", said.text);
    insta::assert_snapshot!(said.text);
}

#[test]
fn white_waits_for_black() {
    let said = from_start(Color::White, "c2c3 d2d3", "c5c4");
    assert_eq!(moves(&said.game), "c2c3 c5c4 d2d3");
    // The end of the input leaves the game.
    assert_eq!(said.left, Leave::Quit);
}

#[test]
fn what_is_wrong_with_a_move_is_said() {
    let cases = [
        ("hello", "`hello` is not a move"),
        ("a4a5", "There is no piece of yours on a4."),
        ("a5a4", "There is no piece of yours on a5."),
        ("a2a5", "Your piece on a2 cannot go to a5; its moves are a2a3 a2b3."),
        ("a1a2", "Your piece on a1 cannot go to a2; it has no move at all."),
    ];
    for (typed, answer) in cases {
        let said = from_start(Color::Black, "", typed);
        assert!(said.text.contains(answer), "{typed}: {}", said.text);
        assert!(said.game.moves().is_empty());
    }
}

#[test]
fn a_move_that_repeats_is_explained() {
    let rules: RuleSet = "no-repeat".parse().unwrap();
    let opponent = script(Color::Black, "a2a3 a3a2", None);
    let said = talk(Game::new(rules), Color::White, opponent, "a5a4; a4a5");
    assert_eq!(moves(&said.game), "a2a3 a5a4 a3a2");
    assert!(said.text.contains("a4a5 repeats an earlier position"), "{}", said.text);
}

#[test]
fn taking_back_returns_to_the_last_turn() {
    let said =
        from_start(Color::Black, "a5a4 b5b4", "back; a2a3; b2b3; back; c2c3; back; back; back");
    assert_eq!(moves(&said.game), "");
    assert_eq!(said.text.matches("There is no move of yours to take back.").count(), 2);
    let said = from_start(Color::White, "c2c3 d2d3", "back; c5c4; back; back; d5d4");
    assert!(moves(&said.game).starts_with("c2c3 d5d4 "), "{}", moves(&said.game));
    assert_eq!(said.text.matches("There is no move of yours to take back.").count(), 2);
}

#[test]
fn moves_before_the_session_cannot_be_taken_back() {
    let mut game = Game::new(RuleSet::default());
    for mv in ["a2a3", "a5a4"] {
        game.play(mv.parse().unwrap()).unwrap();
    }
    let said = talk(game, Color::Black, script(Color::White, "", None), "back");
    assert_eq!(moves(&said.game), "a2a3 a5a4");
}

#[test]
fn a_hint_is_seen_by_the_person() {
    let opponent = script(Color::White, "", Some(0.25));
    let said = talk(Game::new(RuleSet::default()), Color::Black, opponent, "hint; a2a3");
    assert!(
        said.text.contains("Your opponent would play a2a3 in your place (worth -0.25 to you)."),
        "{}",
        said.text
    );
    assert!(said.text.contains("white plays a5a4 (worth +0.25 to it)"), "{}", said.text);
}

#[test]
fn resigning_loses() {
    let said = from_start(Color::White, "a2a3", "resign");
    assert_eq!(said.left, Leave::Finished);
    let result = said.game.result().unwrap();
    assert_eq!((result.ending, result.outcome), (Ending::Resignation, Outcome::Win(Color::Black)));
    assert!(
        said.text.ends_with("Your opponent wins as black by resignation (black 12, white 12).\n")
    );
}

/// Black, to move, has a piece more.
const AHEAD: &str = "wwww2/6/6/6/6/bbbbb1 b 0 1";

fn agreement(position: &str) -> Game {
    Game::from_position("agreement".parse().unwrap(), position.parse().unwrap())
}

#[test]
fn an_offer_is_accepted_by_who_expects_no_more() {
    // White would lose by the count, so it accepts only what is lost anyway.
    for (value, ends) in [(-1.0, true), (-0.9, false), (0.3, false)] {
        let opponent = script(Color::White, "", Some(value));
        let said = talk(agreement(AHEAD), Color::Black, opponent, "offer");
        assert_eq!(said.game.result().is_some(), ends, "{value}: {}", said.text);
    }
    // With equal pieces, whatever is no better than a draw.
    for (value, ends) in [(-0.2, true), (0.0, true), (0.1, false)] {
        let opponent = script(Color::White, "", Some(value));
        let said = talk(agreement("wwww2/6/6/6/6/bbbb2 b 0 1"), Color::Black, opponent, "offer");
        let ending = said.game.result().map(|result| (result.ending, result.outcome));
        assert_eq!(ending, ends.then_some((Ending::Agreement, Outcome::Draw)), "{value}");
    }
    let opponent = script(Color::White, "", None);
    let said = talk(agreement(AHEAD), Color::Black, opponent, "offer");
    assert!(said.text.contains("cannot judge"), "{}", said.text);
}

/// Steps of Black's to and fro that leave White's alone.
fn to_and_fro(turns: usize) -> String {
    let there_and_back = ["e1e2", "e2e1"];
    (0..turns).map(|turn| there_and_back[turn % 2]).collect::<Vec<_>>().join("; ")
}

/// White's steps to and fro.
fn answers() -> Script {
    script(Color::White, &"a6a5 a5a6 ".repeat(30), Some(-1.0))
}

#[test]
fn the_opponent_offers_after_ten_moves() {
    let offer = "Your opponent offers to end the game";
    let said = talk(agreement(AHEAD), Color::Black, answers(), &to_and_fro(9));
    assert!(!said.text.contains(offer));
    let typed = to_and_fro(10) + "; perhaps; yes";
    let said = talk(agreement(AHEAD), Color::Black, answers(), &typed);
    assert_eq!(said.text.matches(offer).count(), 1, "{}", said.text);
    assert_eq!(said.text.matches("Do you accept").count(), 2);
    assert_eq!(said.left, Leave::Finished);
    assert!(said.text.ends_with("You win as black by agreement (black 5, white 4).\n"));
    // Not under rules that know no agreement: those end by repetition first, so these are lenient.
    let rules: RuleSet = "threefold,repetition=200,no-capture=none".parse().unwrap();
    let game = Game::from_position(rules, AHEAD.parse().unwrap());
    let said = talk(game, Color::Black, answers(), &to_and_fro(12));
    assert!(!said.text.contains(offer));
}

#[test]
fn a_refused_offer_comes_again_ten_moves_later() {
    let typed = to_and_fro(10) + "; no; " + &to_and_fro(9);
    let said = talk(agreement(AHEAD), Color::Black, answers(), &typed);
    assert_eq!(said.text.matches("Your opponent offers").count(), 1);
    assert_eq!(said.game.moves().len(), 38);
    let said = talk(agreement(AHEAD), Color::Black, answers(), &(typed + "; e2e1"));
    assert_eq!(said.text.matches("Your opponent offers").count(), 2);
    let typed = to_and_fro(10) + "; quit";
    let said = talk(agreement(AHEAD), Color::Black, answers(), &typed);
    assert_eq!(said.left, Leave::Quit);
}

/// What is taken back does not count towards an offer.
#[test]
fn taking_back_takes_back_the_patience() {
    let typed = to_and_fro(9) + "; back; back; e1e2";
    let said = talk(agreement(AHEAD), Color::Black, answers(), &(typed.clone() + "; e2e1"));
    assert!(!said.text.contains("Your opponent offers"), "{}", said.text);
    let said = talk(agreement(AHEAD), Color::Black, answers(), &(typed + "; e2e1; e1e2; e2e1"));
    assert_eq!(said.text.matches("Your opponent offers").count(), 1, "{}", said.text);
}

#[test]
fn a_game_that_ends_by_the_rules_is_announced() {
    // The loop joins b1 and a2, where White's last piece stands.
    let game = Game::from_position(RuleSet::default(), "6/6/6/6/w5/1b4 b 0 1".parse().unwrap());
    let said = talk(game, Color::Black, script(Color::White, "", None), "moves; b1xa2");
    assert!(said.text.contains("b1xa2"), "{}", said.text);
    assert!(said.text.ends_with("You win as black by captured-all (black 1, white 0).\n"));
    // The board after the last move is shown.
    assert!(said.text.contains("black 1, white 0; move 1"), "{}", said.text);
}
