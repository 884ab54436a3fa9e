//! The published findings, held against the layouts.

use super::super::claim::{Basis, Claim};
use super::{Layout, SECTION};
use crate::report::LatencySummary;
use meldsim::profile::SetLayout;

/// How far the reader with the writer may be from the reader without.
const UNDISTURBED: f64 = 0.02;
/// How far the bandwidth of a set alone may be from its share.
const SHARE_TOLERANCE: f64 = 0.02;
/// How much higher baseline's p99 is at least.
const BASELINE_P99_RATIO: f64 = 5.0;
/// What "far lower" means at least.
const FAR_LOWER: f64 = 2.0;

fn of(layouts: &[Layout], layout: SetLayout) -> Option<&Layout> {
    layouts.iter().find(|entry| entry.layout == layout)
}

type Figure = fn(&LatencySummary) -> f64;

/// The latencies that the findings are about.
const FIGURES: [(&str, Figure); 3] = [
    ("average", |latency| latency.mean_us),
    ("p99", |latency| latency.p99_us),
    ("maximum", |latency| latency.max_us),
];

pub(super) fn claims(layouts: &[Layout]) -> Vec<Claim> {
    let (Some(baseline), Some(vertical)) = (
        of(layouts, SetLayout::Baseline),
        of(layouts, SetLayout::Vertical),
    ) else {
        return Vec::new();
    };
    let mut claims = bandwidths(layouts, baseline);
    claims.push(far_lower(layouts, baseline));
    claims.push(undisturbed(vertical));
    let ratio = baseline.noisy.latency.p99_us / vertical.noisy.latency.p99_us;
    claims.push(Claim::new(
        SECTION,
        Basis::Published,
        "noisy-neighbor.baseline-p99",
        (
            "with the writer, p99 of the baseline against that of vertical sets",
            "far higher",
        ),
        format!(
            "x{ratio:.1}: {:.0} against {:.0} us",
            baseline.noisy.latency.p99_us, vertical.noisy.latency.p99_us
        ),
        format!("it is at least {BASELINE_P99_RATIO:.0} times as high"),
        ratio >= BASELINE_P99_RATIO,
    ));
    claims
}

fn bandwidths(layouts: &[Layout], baseline: &Layout) -> Vec<Claim> {
    let expected = [
        (
            SetLayout::Vertical,
            "noisy-neighbor.vertical-bandwidth",
            "1/4",
            0.25,
        ),
        (
            SetLayout::Horizontal,
            "noisy-neighbor.horizontal-bandwidth",
            "1/1",
            1.0,
        ),
        (
            SetLayout::Mixed,
            "noisy-neighbor.mixed-bandwidth",
            "1/2",
            0.5,
        ),
    ];
    let found = expected
        .into_iter()
        .filter_map(|(layout, id, share, value)| {
            let layout = of(layouts, layout)?;
            let measured = layout.alone_mib_s / baseline.alone_mib_s;
            Some(Claim::new(
                SECTION,
                Basis::Published,
                id,
                (
                    &format!(
                        "bandwidth of one {} set alone, of the baseline's",
                        layout.name
                    ),
                    share,
                ),
                format!(
                    "{measured:.3}: {:.0} of {:.0} MiB/s",
                    layout.alone_mib_s, baseline.alone_mib_s
                ),
                format!("it is within {:.0} % of its share", 100.0 * SHARE_TOLERANCE),
                (measured / value - 1.0).abs() <= SHARE_TOLERANCE,
            ))
        });
    found.collect()
}

fn far_lower(layouts: &[Layout], baseline: &Layout) -> Claim {
    let mut holds = true;
    let mut texts = Vec::new();
    for layout in layouts
        .iter()
        .filter(|layout| layout.layout != SetLayout::Baseline)
    {
        let ratios = FIGURES
            .map(|(_, figure)| figure(&baseline.noisy.latency) / figure(&layout.noisy.latency));
        holds &= ratios.iter().all(|&ratio| ratio >= FAR_LOWER);
        let ratios = ratios.map(|ratio| format!("{ratio:.1}"));
        texts.push(format!("{} x{}", layout.name, ratios.join(" / ")));
    }
    Claim::new(
        SECTION,
        Basis::Published,
        "noisy-neighbor.far-lower",
        (
            "with the writer, average / p99 / maximum of the baseline against those of sets",
            "far lower with sets",
        ),
        texts.join(", "),
        format!("each is at least {FAR_LOWER:.0} times as high in the baseline"),
        holds,
    )
}

fn undisturbed(vertical: &Layout) -> Claim {
    let change = FIGURES.map(|(name, figure)| {
        let ratio = figure(&vertical.noisy.latency) / figure(&vertical.quiet.latency) - 1.0;
        (name, ratio)
    });
    let texts = change.map(|(name, change)| format!("{name} {:+.2} %", 100.0 * change));
    Claim::new(
        SECTION,
        Basis::Published,
        "noisy-neighbor.vertical-undisturbed",
        (
            "with vertical sets, reads with the writer against reads without",
            "equal",
        ),
        texts.join(", "),
        format!("each is within {:.0} %", 100.0 * UNDISTURBED),
        change.iter().all(|(_, change)| change.abs() <= UNDISTURBED),
    )
}
