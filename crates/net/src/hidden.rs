//! Hidden layers over sparse inputs, for some positions at a time, so that weights which have been
//! loaded serve all of them. No bit of a result depends on the others.

use crate::lanes::{LANES, Lanes};
use crate::vector::Vector;

/// Positions that are evaluated together.
pub(crate) const TOGETHER: usize = 16;

/// Bytes of weights that are used for all positions in turn: half of a small first cache.
const CACHED: usize = 16 * 1024;

/// Vectors of units whose weights lie together, input after input: what is used together must not
/// compete for the same lines of a cache.
const PANEL: usize = 4;

type Panel = [Lanes; PANEL];

/// A hidden layer by its inputs: the weights of each in a row, so that an input which is 0 costs
/// nothing.
#[derive(Debug)]
pub(crate) struct Hidden {
    /// Whether it adds to the layer below.
    adds: bool,
    /// Vectors of units.
    width: usize,
    inputs: usize,
    bias: Vec<Panel>,
    /// One for each input of the first panel, then those of the second, …; filled up with zeros.
    rows: Vec<Panel>,
}

/// Inputs of a layer that are not 0, for each of some positions, ascending, and their values.
#[derive(Clone, Debug)]
pub(crate) struct Active {
    counts: [usize; TOGETHER],
    places: Vec<u16>,
    values: Vec<f32>,
    /// Room for each position.
    room: usize,
}

impl Active {
    /// With room for so many inputs of each position.
    pub(crate) fn new(inputs: usize) -> Active {
        // The last vector of a list is written whole.
        let room = inputs + LANES;
        Active {
            counts: [0; TOGETHER],
            places: vec![0; TOGETHER * room],
            values: vec![1.0; TOGETHER * room],
            room,
        }
    }

    /// Lists inputs that are 1.
    #[inline(always)]
    pub(crate) fn list(&mut self, position: usize, places: &[u16]) {
        self.counts[position] = places.len();
        self.places[position * self.room..][..places.len()].copy_from_slice(places);
    }

    /// Lists the units above 0.
    #[inline(always)]
    pub(crate) fn list_positive<V: Vector>(&mut self, position: usize, units: &[Lanes]) {
        let start = position * self.room;
        let places = &mut self.places[start..start + self.room];
        let values = &mut self.values[start..start + self.room];
        let mut count = 0;
        for (i, unit) in units.iter().enumerate() {
            let room = "there is room for one vector more than there are units";
            let places = places[count..].first_chunk_mut().expect(room);
            let values = values[count..].first_chunk_mut().expect(room);
            count += V::list_positive(unit, (i * LANES) as u16, places, values);
        }
        self.counts[position] = count;
    }

    #[inline(always)]
    fn of(&self, position: usize) -> (&[u16], &[f32]) {
        let range = position * self.room..position * self.room + self.counts[position];
        (&self.places[range.clone()], &self.values[range])
    }
}

impl Hidden {
    /// A layer with these weights (out, in) and biases.
    pub(crate) fn new(weight: &[f32], bias: &[f32], adds: bool) -> Hidden {
        let (outputs, inputs) = (bias.len(), weight.len() / bias.len());
        let width = outputs.div_ceil(LANES);
        let panel = |panel: usize, number: &dyn Fn(usize) -> f32| -> Panel {
            let first = panel * PANEL * LANES;
            std::array::from_fn(|n| {
                Lanes(std::array::from_fn(|lane| {
                    let output = first + n * LANES + lane;
                    if output < outputs { number(output) } else { 0.0 }
                }))
            })
        };
        let panels = 0..width.div_ceil(PANEL);
        Hidden {
            adds,
            width,
            inputs,
            bias: panels.clone().map(|n| panel(n, &|output| bias[output])).collect(),
            rows: panels
                .flat_map(|n| (0..inputs).map(move |input| (n, input)))
                .map(|(n, input)| panel(n, &|output| weight[output * inputs + input]))
                .collect(),
        }
    }

    /// Vectors of its units.
    pub(crate) fn width(&self) -> usize {
        self.width
    }

    /// The bias plus the rows of the active inputs, one after another, times their values if they are
    /// `SCALED`, and 0 instead of what is negative with `RELU`: a row of `units` for each position. A
    /// residual layer finds the layers below in `units`, and adds to them. `PANELS` are summed at once.
    #[inline(always)]
    pub(crate) fn forward<V: Vector, const PANELS: usize, const SCALED: bool, const RELU: bool>(
        &self,
        active: &Active,
        units: &mut [Lanes],
    ) {
        let mut panel = 0;
        while self.bias.len() - panel >= PANELS {
            self.panels::<V, PANELS, SCALED, RELU>(panel, active, units);
            panel += PANELS;
        }
        while panel < self.bias.len() {
            self.panels::<V, 1, SCALED, RELU>(panel, active, units);
            panel += 1;
        }
    }

    /// Some panels, so many that their sums stay in registers.
    #[inline(always)]
    fn panels<V: Vector, const N: usize, const SCALED: bool, const RELU: bool>(
        &self,
        panel: usize,
        active: &Active,
        units: &mut [Lanes],
    ) {
        let Hidden { width, inputs, .. } = *self;
        let positions = units.len() / width;
        let mut rows = [&self.rows[..0]; N];
        for (n, rows) in rows.iter_mut().enumerate() {
            *rows = &self.rows[(panel + n) * inputs..][..inputs];
        }
        let bias: &[Panel; N] = self.bias[panel..].first_chunk().expect("so many panels");
        // A few positions gain nothing from weights that stay.
        let some = if positions < 4 { inputs } else { CACHED / size_of::<[Panel; N]>() };
        let mut kept = [*bias; TOGETHER];
        let mut done = [0; TOGETHER];
        let mut end = 0;
        while end < inputs {
            end = inputs.min(end + some);
            for position in 0..positions {
                let mut sums = [[V::start(&bias[0][0]); PANEL]; N];
                for n in 0..N {
                    for k in 0..PANEL {
                        sums[n][k] = V::start(&kept[position][n][k]);
                    }
                }
                let (places, values) = active.of(position);
                let mut at = done[position];
                while at < places.len() && usize::from(places[at]) < end {
                    for n in 0..N {
                        let row = &rows[n][usize::from(places[at])];
                        for k in 0..PANEL {
                            sums[n][k] = match SCALED {
                                true => sums[n][k].plus_scaled(&row[k], values[at]),
                                false => sums[n][k].plus(&row[k]),
                            };
                        }
                    }
                    at += 1;
                }
                done[position] = at;
                if end < inputs {
                    for n in 0..N {
                        for k in 0..PANEL {
                            kept[position][n][k] = sums[n][k].lanes();
                        }
                    }
                    continue;
                }
                // The last panel may have more vectors than there are units.
                let units = units[position * width..][..width].iter_mut().skip(panel * PANEL);
                for (unit, sum) in units.zip(sums.as_flattened()) {
                    let sum = if RELU { sum.relu() } else { sum.lanes() };
                    *unit = if self.adds { unit.plus(sum) } else { sum };
                }
            }
        }
    }
}
