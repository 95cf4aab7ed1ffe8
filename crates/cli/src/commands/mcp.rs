//! `mcp`: a server for other programs.

use std::fmt::Write as _;

use clap::Args;
use clap::builder::PossibleValuesParser;
use rethread_mcp::{
    ClientConfig, ConversationServer, HttpOptions, LibraryOptions, MCP_CLIENTS, MessageAccess,
    serve_http, serve_stdio,
};
use serde_json::json;

use super::msg::{MessageContext, MessageUser};
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::homes::HomeFlags;
use crate::output::{print, print_json, say};

/// The variable that holds the token of `--http`, where one is wanted that stays the same.
const TOKEN_VARIABLE: &str = "RETHREAD_MCP_TOKEN";

/// Let agents search and read conversations: a server of the Model Context Protocol.
///
/// A client starts it and talks to it over its standard streams; `--print-config` prints what to add to
/// the settings of one. Its tools are `search_conversations`, `read_conversation`,
/// `list_conversations` and `conversation_stats`. Nothing is written to any store. What looks like a secret key is masked, and
/// what conversations say is marked as data.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  rethread mcp --print-config claude   what to run once, so that Claude Code has it
  rethread mcp --print-config codex    what to add to ~/.codex/config.toml
  rethread mcp --http                  for clients that connect by themselves
  rethread mcp --allow-messages --as reviewer
                                       its clients may also write to other agents")]
pub(crate) struct Mcp {
    /// Serve over HTTP on the loopback address instead, with a token that is printed, or that
    /// `RETHREAD_MCP_TOKEN` holds.
    #[arg(long)]
    http: bool,
    /// The port of `--http`; a free one by default.
    #[arg(long, value_name = "PORT", default_value = "0", requires = "http")]
    port: u16,
    /// Let clients send messages to other agents and read theirs, as `rethread msg` does.
    #[arg(long)]
    allow_messages: bool,
    /// Tell what looks like a secret key as it is.
    #[arg(long)]
    no_mask: bool,
    /// Print what to add to the settings of a client, or what to run, and serve nobody.
    #[arg(long, value_name = "CLIENT", value_parser = client_parser())]
    print_config: Option<String>,
    #[command(flatten)]
    place: MessageContext,
    #[command(flatten)]
    homes: HomeFlags,
}

impl Mcp {
    /// Whether its clients may change something.
    pub(crate) fn may_write(&self) -> bool {
        self.allow_messages && self.print_config.is_none()
    }
}

fn client_parser() -> PossibleValuesParser {
    PossibleValuesParser::new(MCP_CLIENTS.map(|client| client.name))
}

pub(crate) fn run(context: &Context, args: &Mcp) -> Result<Exit, Failure> {
    if let Some(name) = &args.print_config {
        return print_config(context, args, name);
    }
    let (env, notes) = args.homes.open(context)?;
    let exit = context.notes(&notes);
    let messages = if args.allow_messages {
        let me = MessageUser::find(context, &args.place)?;
        Some(MessageAccess {
            alias: me.alias,
            folder: me.folder,
            cursor: me.cache,
        })
    } else {
        None
    };
    context.tell_notes();
    let token = || {
        let random = env.random_bytes(b"token of an HTTP server");
        random.iter().fold(String::new(), |mut text, byte| {
            let _ = write!(text, "{byte:02x}");
            text
        })
    };
    let variable = context
        .env
        .system_variable(TOKEN_VARIABLE)
        .and_then(|t| t.to_str());
    let options = HttpOptions {
        port: args.port,
        token: variable.map_or_else(token, str::to_owned),
    };
    if args.http && options.token.len() < 16 {
        return Err(Failure::usage(format!(
            "`{TOKEN_VARIABLE}` is shorter than 16 characters"
        )));
    }
    let server = ConversationServer::new(LibraryOptions {
        env,
        zone: context.zone().clone(),
        masks_secrets: !args.no_mask,
        messages,
    });
    if args.http {
        // Who set it knows it.
        let token = variable.is_none().then(|| options.token.clone());
        serve_http(server, options, |address| {
            say(&format!("serving {address}"));
            if let Some(token) = token {
                say(&format!("token {token}"));
            }
        })?;
    } else {
        serve_stdio(server)?;
    }
    Ok(exit)
}

/// The words that start this server, as a client has to know them.
fn server_words(context: &Context, args: &Mcp) -> Vec<String> {
    let program = std::env::current_exe().map_or_else(
        |_| "rethread".to_owned(),
        |path| path.to_string_lossy().into_owned(),
    );
    let mut words = vec![program];
    words.extend(context.looked_at_words());
    words.push("mcp".to_owned());
    if args.allow_messages {
        words.push("--allow-messages".to_owned());
    }
    if args.no_mask {
        words.push("--no-mask".to_owned());
    }
    words.extend(args.place.words());
    words
}

fn print_config(context: &Context, args: &Mcp, name: &str) -> Result<Exit, Failure> {
    let Some(client) = ClientConfig::named(name) else {
        return Err(Failure::usage(format!("`{name}` is no client")));
    };
    let words = server_words(context, args);
    let text = client.text(&words);
    if context.json {
        print_json(&json!({
            "client": client.name,
            "place": client.place,
            "text": text,
            "command": words,
        }))?;
        return Ok(Exit::Done);
    }
    context.say(&format!("{}:", client.place));
    print(&text)?;
    Ok(Exit::Done)
}
