//! Statistics for scripts.

use std::io::{self, Write};

use rethread_engine::{
    BudgetState, ExplainedRow, Filter, GroupBy, GroupKey, PriceTable, Stats, StatsGroup,
    StatsReport, StatsSums,
};
use rethread_model::{Moment, Summary};
use rethread_render::cell;
use serde_json::{Map, Value, json};

/// The answer as one object.
pub(crate) fn report_json(found: &Stats, by: &[GroupBy], filter: &Filter, explain: bool) -> Value {
    let empty = StatsReport::default();
    let report = found.reports.first().unwrap_or(&empty);
    let by = by.first().copied().unwrap_or_default();
    let source = PriceTable::source();
    let groups = report
        .groups
        .iter()
        .map(|group| group_json(found, by, group));
    let unpriced = report.unpriced.iter().map(
        |model| json!({"model": model.model, "responses": model.responses, "tokens": model.tokens}),
    );
    let oddities = report.oddities.iter().map(|odd| {
        let session = found.sessions.get(odd.session);
        json!({
            "kind": odd.kind.word(),
            "count": odd.count,
            "session_id": session.map(|s| &s.head.id),
            "entry": (odd.entry > 0).then(|| format!("#{}", odd.entry)),
            "example": odd.example,
        })
    });
    let left_out: Map<String, Value> = report
        .left_out
        .iter()
        .map(|(why, count)| (why.word().to_owned(), json!(count)))
        .collect();
    let mut answer = json!({
        "by": by.word(),
        "since": filter.since.map(|t| t.to_string()),
        "until": filter.until.map(|t| t.to_string()),
        "total": sums_json(&report.total),
        "groups": groups.collect::<Vec<Value>>(),
        "unpriced": unpriced.collect::<Vec<Value>>(),
        "left_out": left_out,
        "oddities": oddities.collect::<Vec<Value>>(),
        "budget": found.budget.as_ref().map(budget_json),
        "prices": {"package": source.package, "version": source.version, "date": source.date},
    });
    if explain && let Value::Object(members) = &mut answer {
        let rows = report.rows.iter().map(|row| row_json(found, row));
        members.insert("rows".to_owned(), rows.collect());
        members.insert("more_rows".to_owned(), json!(report.more_rows));
    }
    answer
}

/// How much of a month's budget is spent.
pub(crate) fn budget_json(budget: &BudgetState) -> Value {
    json!({
        "month_usd": budget.month_usd,
        "spent_usd": rounded(budget.spent_usd),
        "unpriced_responses": budget.unpriced_responses,
    })
}

fn group_json(found: &Stats, by: GroupBy, group: &StatsGroup) -> Value {
    let mut object = Map::new();
    object.insert("key".to_owned(), key_json(found, by, &group.key));
    if let GroupKey::Session(at) = group.key {
        let session = found.sessions.get(at);
        let text = |value: Option<String>| value.map_or(Value::Null, Value::String);
        let of = |get: fn(&Summary) -> Option<String>| text(session.and_then(get));
        object.insert(
            "agent".to_owned(),
            of(|s| Some(s.head.held_by().to_owned())),
        );
        object.insert(
            "workspace".to_owned(),
            of(|s| s.head.workspace.path.clone()),
        );
        object.insert(
            "title".to_owned(),
            of(|s| s.head.title.as_ref().map(|t| t.text.clone())),
        );
    }
    if let Value::Object(sums) = sums_json(&group.sums) {
        object.extend(sums);
    }
    Value::Object(object)
}

fn key_json(found: &Stats, by: GroupBy, key: &GroupKey) -> Value {
    match key {
        GroupKey::Unknown => Value::Null,
        key => Value::String(key_text(found, by, key)),
    }
}

/// What a script calls a group; empty where it has no name.
fn key_text(found: &Stats, by: GroupBy, key: &GroupKey) -> String {
    match key {
        GroupKey::Date(date) if by == GroupBy::Month => date.strftime("%Y-%m").to_string(),
        GroupKey::Date(date) => date.to_string(),
        GroupKey::Hour(hour) => format!("{hour:02}"),
        GroupKey::Name(name) => name.clone(),
        GroupKey::Session(at) => {
            let session = found.sessions.get(*at);
            session.map_or_else(String::new, |s| s.head.id.clone())
        }
        GroupKey::Unknown => String::new(),
    }
}

fn sums_json(sums: &StatsSums) -> Value {
    json!({
        "session_count": sums.sessions,
        "response_count": sums.responses,
        "token_usage": {
            "input_tokens": sums.tokens.input,
            "output_tokens": sums.tokens.output,
            "cache_creation_tokens": sums.tokens.cache_write.saturating_add(sums.tokens.cache_write_1h),
            "cache_read_tokens": sums.tokens.cache_read,
            "reasoning_tokens": sums.tokens.reasoning,
            "total_tokens": sums.tokens.total(),
        },
        "cost_usd": rounded(sums.cost_usd()),
        "recorded_usd": rounded(sums.recorded_usd),
        "computed_usd": rounded(sums.computed_usd),
        "unpriced_responses": sums.unpriced_responses,
        "message_count": sums.messages,
        "prompt_count": sums.prompts,
        "tool_call_count": sums.tool_calls,
        "tool_failure_count": sums.tool_failures,
        "tool_ms": sums.tool_ms,
        "active_ms": sums.active_ms,
        "lines_added": sums.lines_added,
        "lines_removed": sums.lines_removed,
        "size": sums.bytes,
    })
}

fn row_json(found: &Stats, explained: &ExplainedRow) -> Value {
    let ExplainedRow { row, .. } = explained;
    let session = found.sessions.get(explained.session);
    json!({
        "session_id": session.map(|s| &s.head.id),
        "path": session.map(|s| s.path.to_string_lossy()),
        "entry": (row.entry > 0).then(|| format!("#{}", row.entry)),
        "time": row.time.and_then(Moment::from_millis).map(|t| t.to_string()),
        "model": (!explained.model.is_empty()).then_some(&explained.model),
        "token_usage": {
            "input_tokens": row.tokens.input,
            "output_tokens": row.tokens.output,
            "cache_creation_tokens": row.tokens.cache_write.saturating_add(row.tokens.cache_write_1h),
            "cache_read_tokens": row.tokens.cache_read,
            "reasoning_tokens": row.tokens.reasoning,
            "total_tokens": row.tokens.total(),
        },
        "cost_usd": explained.cost.usd().map(rounded),
        "cost_basis": explained.cost.word(),
        "is_rest": explained.is_rest,
        "left_out": explained.left_out.map(rethread_engine::LeftOut::word),
    })
}

/// An amount without what adding up in another order would change.
fn rounded(usd: f64) -> f64 {
    (usd * 1e6).round() / 1e6
}

/// Tab-separated values, a line a group; no value holds a tab or a line break.
pub(crate) fn write_tsv(out: &mut dyn Write, found: &Stats) -> io::Result<()> {
    let Some(report) = found.reports.first() else {
        return Ok(());
    };
    for group in &report.groups {
        let sums = &group.sums;
        let tokens = &sums.tokens;
        let by = match group.key {
            GroupKey::Hour(_) => GroupBy::Hour,
            _ => GroupBy::Day,
        };
        write!(out, "{}", cell(&key_text(found, by, &group.key)))?;
        for number in [
            sums.sessions,
            sums.responses,
            tokens.input,
            tokens.output,
            tokens.cache_read,
            tokens.cache_write.saturating_add(tokens.cache_write_1h),
            tokens.reasoning,
            tokens.total(),
        ] {
            write!(out, "\t{number}")?;
        }
        write!(out, "\t{}", rounded(sums.cost_usd()))?;
        write!(out, "\t{}", rounded(sums.recorded_usd))?;
        for number in [
            sums.unpriced_responses,
            sums.messages,
            sums.prompts,
            sums.tool_calls,
            sums.tool_failures,
            sums.tool_ms / 1000,
            sums.active_ms / 1000,
            sums.lines_added,
            sums.lines_removed,
            sums.bytes,
        ] {
            write!(out, "\t{number}")?;
        }
        writeln!(out)?;
    }
    Ok(())
}
