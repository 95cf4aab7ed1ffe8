//! Secrets in a configuration are found, and never repeated.

use super::good::Good;

/// Puts a setting into the configuration, on line 14.
fn with_setting(setting: &str) -> Good {
    let good = Good::new();
    good.edit("config.json", "\"model\": \"m\",", &format!("{setting},"));
    good
}

#[test]
fn a_literal_under_a_secrets_name_is_an_error_and_is_not_shown() {
    for key in [
        "apiKey",
        "api_key",
        "api-key",
        "API_KEY",
        "ANTHROPIC_API_KEY",
        "token",
        "accessToken",
        "authtoken",
        "secret",
        "clientSecret",
        "password",
        "passwd",
        "credential",
        "privateKey",
        "private_key",
    ] {
        for value in ["hunter2", "correct-horse-battery", "Zm9vYmFyYmF6"] {
            let good = with_setting(&format!("\"{key}\": \"{value}\""));
            let found = good.check();
            assert_eq!(
                found.found,
                ["error[secret] config.json:14"],
                "{key}: {value}"
            );
            assert_eq!(found.code, 1);
            assert!(found.messages[0].contains(key), "{found:?}");
            for args in [&["check"][..], &["check", "--json"]] {
                let answer = good.w.run(args);
                assert!(
                    !answer.out.contains(value) && !answer.err.contains(value),
                    "{answer:?}"
                );
            }
        }
    }
}

#[test]
fn a_key_of_a_well_known_service_is_an_error_wherever_it_stands() {
    let long = "abcdefghijklmnopqrstuvwxyz0123456789";
    for key in [
        format!("sk-ant-api03-{long}"),
        format!("sk-proj-{long}"),
        format!("sk-{long}"),
        format!("ghp_{long}"),
        format!("gho_{long}"),
        format!("github_pat_{long}"),
        format!("glpat-{long}"),
        format!("xoxb-{long}"),
        format!("xoxp-{long}"),
        "AKIAIOSFODNN7EXAMPLE".to_owned(),
        format!("AIza{}", &long[..35]),
        format!("npm_{long}"),
        format!("hf_{long}"),
        format!("eyJ{long}.eyJ{long}.{long}"),
        format!("-----BEGIN RSA PRIVATE KEY-----\\n{long}"),
    ] {
        let settings = [
            format!("\"model\": \"{key}\""),
            format!("\"args\": [\"--key\", \"x={key}\"]"),
            format!("\"deep\": {{\"er\": [{{\"x\": \"{key}\"}}]}}"),
            format!("\"{key}\": 1"),
        ];
        for setting in settings {
            let good = with_setting(&setting);
            let found = good.check();
            assert_eq!(found.found, ["error[secret] config.json:14"], "{setting}");
            assert!(!found.messages[0].contains(long), "{found:?}");
        }
        let good = Good::new();
        good.edit(
            "config.json",
            "\"command\": \"true\"",
            &format!("\"command\": \"KEY={key} run\""),
        );
        assert_eq!(
            good.check().found,
            ["error[secret] config.json:30"],
            "{key}"
        );
    }
}

#[test]
fn names_of_secrets_and_numbers_are_no_secrets() {
    for setting in [
        r#""apiKey": "${API_KEY}""#,
        r#""apiKey": "$API_KEY""#,
        r#""apiKey": "env:API_KEY""#,
        r#""apiKey": "<your key>""#,
        r#""apiKey": """#,
        r#""apiKey": "REDACTED""#,
        r#""apiKey": null"#,
        r#""apiKey": true"#,
        r#""apiKeyEnv": "ANTHROPIC_API_KEY""#,
        r#""apiKeyHelper": "/usr/bin/get-the-key""#,
        r#""passwordFile": "/run/keys/password""#,
        r#""tokens": 123456789"#,
        r#""maxTokens": 123456789"#,
        r#""tokenLimit": 123456789"#,
        r#""tokens": {"strategy": "oldest-first"}"#,
        r#""tokenizer": "cl100k_base""#,
        r#""model": "task-force-with-a-rather-long-name""#,
    ] {
        let good = with_setting(setting);
        let found = good.check();
        let secrets = found.found.iter().filter(|f| f.contains("secret"));
        assert_eq!(secrets.count(), 0, "{setting}: {found:?}");
    }
}

#[test]
fn lists_of_secrets_are_secrets() {
    for setting in [
        r#""apiKeys": ["abc-123-def"]"#,
        r#""apiKeys": {"someone": "abc-123-def"}"#,
        r#""secrets": {"db": "abc-123-def"}"#,
    ] {
        let found = with_setting(setting).check();
        assert_eq!(found.found, ["error[secret] config.json:14"], "{setting}");
    }
}

#[test]
fn a_secret_in_a_field_of_another_kind_is_not_shown_either() {
    let key = "ghp_abcdefghijklmnopqrstuvwxyz0123456789";
    for (from, to) in [
        ("\"1.1\"", format!("\"{key}\"")),
        ("\"linux\"", format!("\"{key}\"")),
        (
            "\"initialPrompt\": \"p\"",
            format!("\"{key}\": 1, \"{key}\": 2"),
        ),
    ] {
        let good = Good::new();
        good.edit("config.json", from, &to);
        let found = good.check();
        assert!(
            found.found.iter().any(|f| f.contains("[secret]")),
            "{found:?}"
        );
        assert!(found.found.len() >= 2, "{found:?}");
        assert!(!found.messages.iter().any(|m| m.contains(key)), "{found:?}");
    }
}
