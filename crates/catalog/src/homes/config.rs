//! The settings: `config.toml` in Rethread's own folder.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rethread_disk::{DiskError, read_small};
use rethread_formats::Env;
use serde::Deserialize;

use super::HomeError;

const FILE: &str = "config.toml";

/// What the user set.
#[derive(Debug, Deserialize, PartialEq)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Config {
    /// The program for other machines, and options for it.
    pub(super) ssh: Vec<String>,
    /// How long another machine may say nothing.
    pub(super) ssh_timeout: Seconds,
    /// Other machines, as `ssh` takes them.
    pub(super) remotes: Vec<String>,
    /// Homes in Linux distributions, by the name of the distribution.
    pub(super) wsl: BTreeMap<String, PathBuf>,
    /// Homes of users of Windows, by the name of the user.
    pub(super) windows: BTreeMap<String, PathBuf>,
    /// How much is to be spent.
    pub(super) budget: BudgetSettings,
    /// Prices of models, by `provider/model` or by model.
    pub(super) prices: BTreeMap<String, PriceSettings>,
}

/// How much is to be spent.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq)]
#[serde(default, deny_unknown_fields)]
pub struct BudgetSettings {
    /// US dollars a month.
    pub month: Option<Dollars>,
}

/// Prices of a model in US dollars for a million tokens.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct PriceSettings {
    /// Of input that no cache answered.
    pub input: Dollars,
    /// Of output.
    pub output: Dollars,
    /// Of input from a cache; that of input if it is not set.
    pub cache_read: Option<Dollars>,
    /// Of input to a cache; that of input if it is not set.
    pub cache_write: Option<Dollars>,
}

/// What the user set about statistics.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StatsSettings {
    /// How much is to be spent.
    pub budget: BudgetSettings,
    /// Prices of models, by `provider/model` or by model.
    pub prices: BTreeMap<String, PriceSettings>,
}

/// What the user set about statistics.
pub fn stats_settings(env: &Env) -> Result<StatsSettings, HomeError> {
    let Config { budget, prices, .. } = Config::read(env)?;
    Ok(StatsSettings { budget, prices })
}

/// An amount of money that can be.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq)]
#[serde(try_from = "f64")]
pub struct Dollars(pub f64);

impl TryFrom<f64> for Dollars {
    type Error = &'static str;

    fn try_from(usd: f64) -> Result<Self, Self::Error> {
        let is_amount = usd.is_finite() && usd >= 0.0;
        is_amount
            .then_some(Self(usd))
            .ok_or("an amount of US dollars that is not negative is wanted")
    }
}

/// A time, written as a number of seconds.
#[derive(Debug, Deserialize, PartialEq, Eq)]
#[serde(try_from = "f64")]
pub(super) struct Seconds(pub(super) Duration);

impl TryFrom<f64> for Seconds {
    type Error = &'static str;

    fn try_from(seconds: f64) -> Result<Self, Self::Error> {
        let time = Duration::try_from_secs_f64(seconds).ok();
        let time = time.filter(|time| !time.is_zero());
        time.map(Self)
            .ok_or("a number of seconds above 0 is wanted")
    }
}

impl Default for Config {
    fn default() -> Self {
        Self {
            ssh: vec!["ssh".to_owned()],
            // Looking through a large home on a slow disk takes its time.
            ssh_timeout: Seconds(Duration::from_mins(2)),
            remotes: Vec::new(),
            wsl: BTreeMap::new(),
            windows: BTreeMap::new(),
            budget: BudgetSettings::default(),
            prices: BTreeMap::new(),
        }
    }
}

impl Config {
    /// Reads the settings; nothing is set where there is no file.
    pub(super) fn read(env: &Env) -> Result<Self, HomeError> {
        let path = env.config.join(FILE);
        let bytes = match read_small(&path) {
            Ok(bytes) => bytes,
            Err(DiskError::NotFound { .. }) => return Ok(Self::default()),
            Err(e) => return Err(e.into()),
        };
        Self::parse(&path, &bytes)
    }

    fn parse(path: &Path, bytes: &[u8]) -> Result<Self, HomeError> {
        let wrong = |line, message: &str| HomeError::Settings {
            path: path.to_owned(),
            line,
            message: message.lines().next().unwrap_or_default().to_owned(),
        };
        let text = std::str::from_utf8(bytes).map_err(|e| wrong(None, &e.to_string()))?;
        toml::from_str(text).map_err(|e: toml::de::Error| {
            let before = e.span().and_then(|span| text.get(..span.start));
            let line = before.map(|text| text.matches('\n').count() as u64 + 1);
            wrong(line, e.message())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Config, HomeError> {
        Config::parse(Path::new("config.toml"), text.as_bytes())
    }

    #[test]
    fn what_is_not_set_has_its_default() {
        assert_eq!(parse("").unwrap(), Config::default());
        let half = Seconds(Duration::from_millis(500));
        assert_eq!(parse("ssh_timeout = 0.5").unwrap().ssh_timeout, half);
        let set = parse("remotes = ['ada@vm01']\n[wsl]\nUbuntu = '/u'\n").unwrap();
        assert_eq!(set.remotes, ["ada@vm01"]);
        assert_eq!(set.ssh, ["ssh"]);
        assert_eq!(set.ssh_timeout, Seconds(Duration::from_mins(2)));
        assert_eq!(set.wsl["Ubuntu"], Path::new("/u"));
    }

    #[test]
    fn money_is_set_by_month_and_by_model() {
        let set = parse(
            "[budget]\nmonth = 200\n[prices.'local/qwen']\ninput = 0.1\noutput = 1\ncache_read = 0\n",
        );
        let set = set.unwrap();
        assert_eq!(set.budget.month, Some(Dollars(200.0)));
        assert_eq!(set.prices["local/qwen"].cache_read, Some(Dollars(0.0)));
        for wrong in [
            "[budget]\nmonth = -1",
            "[budget]\nmonth = 'x'",
            "[budget]\nyear = 1",
            "[prices.x]\ninput = nan\noutput = 1",
            "[prices.x]\ninput = 1",
        ] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn what_is_wrong_is_named_with_its_line() {
        let error = parse("ssh = ['ssh']\nremote = ['x']\n").unwrap_err();
        let text = error.to_string();
        assert!(
            text.starts_with("`config.toml`, line 2: unknown field `remote`"),
            "{text}"
        );
        assert!(parse("remotes = 'x'").is_err());
        for seconds in ["0", "-1", "nan", "inf", "1e300", "'1'"] {
            assert!(
                parse(&format!("ssh_timeout = {seconds}")).is_err(),
                "{seconds}"
            );
        }
        assert!(Config::parse(Path::new("c"), b"\xff").is_err());
    }
}
