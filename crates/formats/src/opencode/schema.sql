-- The tables of version 1.18, as far as a session is in them.
CREATE TABLE project (
  id text PRIMARY KEY, worktree text NOT NULL, vcs text, name text, icon_url text,
  icon_url_override text, icon_color text, time_created integer NOT NULL,
  time_updated integer NOT NULL, time_initialized integer, sandboxes text NOT NULL, commands text
);
CREATE TABLE project_directory (
  project_id text NOT NULL REFERENCES project (id) ON DELETE CASCADE, directory text NOT NULL,
  type text, strategy text, time_created integer NOT NULL, PRIMARY KEY (project_id, directory)
);
CREATE TABLE session (
  id text PRIMARY KEY, project_id text NOT NULL REFERENCES project (id) ON DELETE CASCADE,
  workspace_id text, parent_id text, slug text NOT NULL, directory text NOT NULL, path text,
  title text NOT NULL, version text NOT NULL, share_url text, summary_additions integer,
  summary_deletions integer, summary_files integer, summary_diffs text, metadata text,
  cost real DEFAULT 0 NOT NULL, tokens_input integer DEFAULT 0 NOT NULL,
  tokens_output integer DEFAULT 0 NOT NULL, tokens_reasoning integer DEFAULT 0 NOT NULL,
  tokens_cache_read integer DEFAULT 0 NOT NULL, tokens_cache_write integer DEFAULT 0 NOT NULL,
  revert text, permission text, agent text, model text, time_created integer NOT NULL,
  time_updated integer NOT NULL, time_compacting integer, time_archived integer
);
CREATE TABLE message (
  id text PRIMARY KEY, session_id text NOT NULL REFERENCES session (id) ON DELETE CASCADE,
  time_created integer NOT NULL, time_updated integer NOT NULL, data text NOT NULL
);
CREATE TABLE part (
  id text PRIMARY KEY, message_id text NOT NULL REFERENCES message (id) ON DELETE CASCADE,
  session_id text NOT NULL, time_created integer NOT NULL, time_updated integer NOT NULL,
  data text NOT NULL
);
CREATE TABLE todo (
  session_id text NOT NULL REFERENCES session (id) ON DELETE CASCADE, content text NOT NULL,
  status text NOT NULL, priority text NOT NULL, position integer NOT NULL,
  time_created integer NOT NULL, time_updated integer NOT NULL,
  PRIMARY KEY (session_id, position)
);
CREATE INDEX message_by_time ON message (session_id, time_created, id);
CREATE INDEX part_by_message ON part (message_id, id);
CREATE INDEX part_by_session ON part (session_id);
CREATE INDEX session_by_parent ON session (parent_id);
