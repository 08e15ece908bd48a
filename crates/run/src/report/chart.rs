//! Charts of numbers over numbers, drawn as SVG without a program in the page.

use maud::{Markup, html};

/// A range of numbers with its marks at round values.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Axis {
    pub(super) low: f64,
    pub(super) high: f64,
    pub(super) ticks: Vec<f64>,
    /// Decimals that the marks need.
    decimals: usize,
}

impl Axis {
    /// The least range with round ends that covers these values, marked at about so many places.
    pub(super) fn covering(values: impl IntoIterator<Item = f64>, about: usize) -> Axis {
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        for value in values.into_iter().filter(|value| value.is_finite()) {
            (low, high) = (low.min(value), high.max(value));
        }
        if low > high {
            (low, high) = (0.0, 1.0);
        }
        if low == high {
            (low, high) = (low - 0.5, high + 0.5);
        }
        let step = round_step((high - low) / about as f64);
        let (first, last) = ((low / step).floor(), (high / step).ceil());
        let ticks = (0..=(last - first) as usize).map(|n| (first + n as f64) * step).collect();
        let decimals = (-step.log10().floor()).max(0.0) as usize;
        Axis { low: first * step, high: last * step, ticks, decimals }
    }

    /// The same for counted things: marks at whole numbers, ends where the values end.
    pub(super) fn counting(low: u32, high: u32, about: usize) -> Axis {
        let (low, high) = (f64::from(low), f64::from(high.max(low + 1)));
        let step = round_step((high - low) / about as f64).max(1.0);
        let mut axis = Axis { low, high, ticks: Vec::new(), decimals: 0 };
        let mut tick = (low / step).ceil() * step;
        while tick <= high {
            axis.ticks.push(tick);
            tick += step;
        }
        axis
    }

    /// How far along the axis a value lies, 0 to 1.
    pub(super) fn share(&self, value: f64) -> f64 {
        (value - self.low) / (self.high - self.low)
    }

    /// The text of a mark.
    pub(super) fn text(&self, tick: f64) -> String {
        minus(&format!("{tick:.*}", self.decimals))
    }
}

/// A number with the sign of the typographers; a zero has none.
pub(super) fn minus(text: &str) -> String {
    match text.strip_prefix('-') {
        Some(rest) if rest.chars().all(|c| c == '0' || c == '.') => rest.to_owned(),
        Some(rest) => format!("−{rest}"),
        None => text.to_owned(),
    }
}

/// 1, 2 or 5 times a power of ten, not below a number.
fn round_step(least: f64) -> f64 {
    let power = 10f64.powf(least.log10().floor());
    [1.0, 2.0, 5.0]
        .into_iter()
        .map(|m| m * power)
        .find(|step| *step >= least * 0.999)
        .unwrap_or(10.0 * power)
}

/// A point of a line.
#[derive(Clone, Debug)]
pub(super) struct Dot {
    pub(super) x: f64,
    pub(super) y: f64,
    /// Half of its 95 % interval.
    pub(super) error: Option<f64>,
    /// What it says when pointed at.
    pub(super) title: String,
}

/// A line of a chart.
pub(super) struct Line {
    /// Its colour and mark.
    pub(super) series: usize,
    pub(super) dots: Vec<Dot>,
    pub(super) dashed: bool,
    /// Draws the dots themselves, and their intervals.
    pub(super) marked: bool,
    /// How far to the right it is drawn, in pixels, so that intervals of several series at the same
    /// place can be told apart.
    pub(super) shift: f64,
}

/// A value to compare the lines with.
pub(super) struct Level {
    pub(super) y: f64,
    pub(super) name: String,
}

/// Lines over a common x.
pub(super) struct LineChart {
    /// What is shown, for those who cannot see it.
    pub(super) label: String,
    pub(super) x_title: &'static str,
    pub(super) y_title: &'static str,
    pub(super) x: Axis,
    pub(super) y: Axis,
    pub(super) lines: Vec<Line>,
    pub(super) levels: Vec<Level>,
}

/// Where the picture lies in its frame.
struct Frame<'a> {
    left: f64,
    right: f64,
    top: f64,
    bottom: f64,
    x: &'a Axis,
    y: &'a Axis,
}

impl Frame<'_> {
    fn new<'a>(width: u32, height: u32, x: &'a Axis, y: &'a Axis) -> Frame<'a> {
        let longest = y.ticks.iter().map(|&tick| y.text(tick).chars().count()).max().unwrap_or(0);
        Frame {
            left: 14.0 + 7.5 * longest as f64,
            right: f64::from(width) - 12.0,
            top: 32.0,
            bottom: f64::from(height) - 42.0,
            x,
            y,
        }
    }

    fn x(&self, value: f64) -> f64 {
        round(self.left + self.x.share(value) * (self.right - self.left))
    }

    fn y(&self, value: f64) -> f64 {
        round(self.bottom - self.y.share(value) * (self.bottom - self.top))
    }

    /// Axes, marks and titles.
    fn draw(&self, x_title: &str, y_title: &str) -> Markup {
        let middle = round((self.left + self.right) / 2.0);
        html! {
            @for &tick in &self.y.ticks {
                line.rule x1=(self.left) x2=(self.right) y1=(self.y(tick)) y2=(self.y(tick)) {}
                text.tick.left x=(self.left - 7.0) y=(self.y(tick) + 4.0) { (self.y.text(tick)) }
            }
            @for &tick in &self.x.ticks {
                line.axis x1=(self.x(tick)) x2=(self.x(tick)) y1=(self.bottom) y2=(self.bottom + 4.0) {}
                text.tick.below x=(self.x(tick)) y=(self.bottom + 18.0) { (self.x.text(tick)) }
            }
            line.axis x1=(self.left) x2=(self.right) y1=(self.bottom) y2=(self.bottom) {}
            text.title x="2" y="13" { (y_title) }
            text.title.below x=(middle) y=(self.bottom + 36.0) { (x_title) }
        }
    }
}

fn round(x: f64) -> f64 {
    (10.0 * x).round() / 10.0
}

impl LineChart {
    /// The chart for a wide page and for a narrow one, of which the style sheet shows one.
    pub(super) fn svg(&self) -> Markup {
        html! { (self.sized("wide", 1040, 430)) (self.sized("narrow", 360, 320)) }
    }

    /// The chart at one size, in units of the style sheet's pixels.
    pub(super) fn sized(&self, class: &str, width: u32, height: u32) -> Markup {
        let frame = Frame::new(width, height, &self.x, &self.y);
        html! {
            svg class=(format!("chart {class}")) viewBox=(format!("0 0 {width} {height}")) role="img" aria-label=(self.label) {
                (frame.draw(self.x_title, self.y_title))
                @for level in &self.levels {
                    line.level x1=(frame.left) x2=(frame.right) y1=(frame.y(level.y)) y2=(frame.y(level.y)) {}
                }
                @for line in &self.lines {
                    g class=(format!("s{}", line.series % SERIES)) {
                        (draw_line(line, &frame))
                    }
                }
                @for (y, level) in spread(&self.levels, &frame) {
                    text.note x=(frame.left + 6.0) y=(y) { (level.name) }
                }
            }
        }
    }
}

/// The levels, each with the height of its name: above the line, and clear of the others.
fn spread<'a>(levels: &'a [Level], frame: &Frame<'_>) -> Vec<(f64, &'a Level)> {
    let mut placed: Vec<(f64, &Level)> =
        levels.iter().map(|level| (frame.y(level.y) - 5.0, level)).collect();
    placed.sort_by(|a, b| b.0.total_cmp(&a.0));
    for n in 1..placed.len() {
        placed[n].0 = placed[n].0.min(placed[n - 1].0 - 14.0);
    }
    placed
}

fn draw_line(line: &Line, frame: &Frame<'_>) -> Markup {
    let runs = line.dots.split(|dot| !dot.y.is_finite());
    let x = |dot: &Dot| round(frame.x(dot.x) + line.shift);
    let path = |run: &[Dot]| {
        let places = run.iter().map(|dot| format!("{} {}", x(dot), frame.y(dot.y)));
        format!("M{}", places.collect::<Vec<_>>().join("L"))
    };
    html! {
        @for run in runs.filter(|run| !run.is_empty()) {
            @if line.marked && run.len() > 1 && run.iter().all(|dot| dot.error.is_some()) {
                path.band d=(band(run, &x, frame)) {}
            }
            path class=(if line.dashed { "line dashed" } else { "line" }) d=(path(run)) {}
            @if line.marked {
                @for dot in run {
                    g {
                        title { (dot.title) }
                        @if let Some(error) = dot.error.filter(|error| *error > 0.0) {
                            path.whisker d=(whisker(dot, error, x(dot), frame)) {}
                        }
                        (mark(line.series, x(dot), frame.y(dot.y)))
                    }
                }
            } @else if let [dot] = run {
                circle.dot cx=(x(dot)) cy=(frame.y(dot.y)) r="3" {}
            }
        }
    }
}

fn band(run: &[Dot], x: &dyn Fn(&Dot) -> f64, frame: &Frame<'_>) -> String {
    let edge = |dot: &Dot, sign: f64| {
        format!("{} {}", x(dot), frame.y(dot.y + sign * dot.error.unwrap_or(0.0)))
    };
    let above = run.iter().map(|dot| edge(dot, 1.0));
    let below = run.iter().rev().map(|dot| edge(dot, -1.0));
    format!("M{}Z", above.chain(below).collect::<Vec<_>>().join("L"))
}

fn whisker(dot: &Dot, error: f64, x: f64, frame: &Frame<'_>) -> String {
    let (above, below) = (frame.y(dot.y + error), frame.y(dot.y - error));
    let (left, right) = (round(x - 3.0), round(x + 3.0));
    format!("M{x} {above}V{below}M{left} {above}H{right}M{left} {below}H{right}")
}

/// How many series can be told apart by colour; beyond, colours come again.
pub(super) const SERIES: usize = 8;

/// The mark of a series: its form tells it apart as its colour does.
pub(super) fn mark(series: usize, x: f64, y: f64) -> Markup {
    let path = match series % 4 {
        0 => return html! { circle.dot cx=(x) cy=(y) r="4" {} },
        1 => format!("M{} {}h7v7h-7Z", round(x - 3.5), round(y - 3.5)),
        2 => format!("M{x} {}l4.5 8h-9Z", round(y - 5.0)),
        _ => format!("M{x} {}l5 5l-5 5l-5 -5Z", round(y - 5.0)),
    };
    html! { path.dot d=(path) {} }
}

/// How often values fall into classes of equal width, a step line for each series.
pub(super) struct Histogram {
    /// What is shown, for those who cannot see it.
    pub(super) label: String,
    pub(super) x_title: &'static str,
    /// The values of each series.
    pub(super) series: Vec<Vec<u32>>,
}

/// The most classes of a histogram.
const MOST_CLASSES: usize = 32;

impl Histogram {
    /// The width of a class: what brings the values into at most [`MOST_CLASSES`].
    pub(super) fn width(&self) -> u32 {
        let most = self.series.iter().flatten().max().copied().unwrap_or(0);
        let least = f64::from(most + 1) / MOST_CLASSES as f64;
        round_step(least).max(1.0) as u32
    }

    /// The chart for a wide page and for a narrow one.
    pub(super) fn svg(&self) -> Markup {
        html! { (self.sized("wide", 1040, 290)) (self.sized("narrow", 360, 240)) }
    }

    fn sized(&self, class: &str, width: u32, height: u32) -> Markup {
        let bin = self.width();
        let most = self.series.iter().flatten().max().copied().unwrap_or(0);
        let classes = (most / bin + 1) as usize;
        let shares: Vec<Vec<f64>> = self
            .series
            .iter()
            .map(|values| {
                let mut counts = vec![0.0; classes];
                for value in values {
                    counts[(value / bin) as usize] += 100.0 / values.len() as f64;
                }
                counts
            })
            .collect();
        let x = Axis::counting(0, bin * classes as u32, if width > 500 { 10 } else { 5 });
        let y = Axis::covering(shares.iter().flatten().copied().chain([0.0]), 4);
        let frame = Frame::new(width, height, &x, &y);
        let steps = |shares: &[f64]| {
            let mut path = format!("M{} {}", frame.left, frame.y(0.0));
            for (n, &share) in (1u32..).zip(shares) {
                path += &format!("V{}H{}", frame.y(share), frame.x(f64::from(n * bin)));
            }
            path + &format!("V{}", frame.y(0.0))
        };
        html! {
            svg class=(format!("chart {class}")) viewBox=(format!("0 0 {width} {height}")) role="img" aria-label=(self.label) {
                (frame.draw(self.x_title, "% of games"))
                @for (series, shares) in shares.iter().enumerate() {
                    g class=(format!("s{}", series % SERIES)) {
                        path.band d=(steps(shares)) {}
                        path.line d=(steps(shares)) {}
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axes_have_round_marks_that_cover_the_values() {
        let axis = Axis::covering([-1114.8, 86.8], 7);
        assert_eq!((axis.low, axis.high), (-1200.0, 200.0));
        assert_eq!(axis.ticks.len(), 8);
        assert_eq!(axis.text(axis.ticks[0]), "−1200");
        let axis = Axis::covering([0.43, 1.09, f64::NAN], 4);
        assert!((axis.low - 0.4).abs() < 1e-9 && (axis.high - 1.2).abs() < 1e-9);
        assert_eq!(axis.text(axis.ticks[1]), "0.6");
        assert_eq!(Axis::covering([], 4).ticks.len(), 3);
        assert_eq!(Axis::covering([7.0], 4).share(7.0), 0.5);
        let axis = Axis::counting(1, 30, 6);
        assert_eq!(axis.ticks, [5.0, 10.0, 15.0, 20.0, 25.0, 30.0]);
    }

    #[test]
    fn names_of_levels_do_not_lie_on_each_other() {
        let (x, y) = (Axis::counting(0, 10, 5), Axis::covering([0.0, 100.0], 5));
        let frame = Frame::new(400, 300, &x, &y);
        let level = |y: f64| Level { y, name: String::new() };
        let levels = [level(50.0), level(51.0), level(10.0), level(50.5)];
        let placed = spread(&levels, &frame);
        assert!(placed.windows(2).all(|pair| pair[0].0 - pair[1].0 >= 14.0));
        assert_eq!(placed[0].1.y, 10.0);
    }

    #[test]
    fn classes_have_round_widths() {
        let width = |most| {
            let series = vec![vec![most]];
            Histogram { label: String::new(), x_title: "", series }.width()
        };
        assert_eq!(
            [width(0), width(31), width(32), width(64), width(159), width(1000)],
            [1, 1, 2, 5, 5, 50]
        );
    }
}
