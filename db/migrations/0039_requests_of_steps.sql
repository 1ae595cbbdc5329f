-- Why: a bad answer can be explained only with what the model was sent, and with how and why its answer ended.

alter table turn_steps
  add column cached_input_tokens int,
  add column cache_write_tokens int,
  add column finish_reason text;
comment on column turn_steps.cached_input_tokens is 'The part of input_tokens that the provider had in its cache';
comment on column turn_steps.cache_write_tokens is 'The part of input_tokens that the provider stored in its cache';
comment on column turn_steps.finish_reason is 'Why the answer of a model ended: stop, length, content-filter, tool-calls, error or other; null = there is none';

-- As `input` and `output`. PostgreSQL keeps the setting for later partitions, and tells existing ones with the column.
do $$
begin
  alter table turn_steps add column request json compression lz4;
exception when feature_not_supported then
  alter table turn_steps add column request json;
end
$$;
comment on column turn_steps.request is 'What the model was sent: runtime/agent/storedRequest.ts reads it. json and not jsonb, which takes neither NUL nor half of a surrogate pair';

-- Prompts and definitions of tools are the same in most requests of an agent, and are most of what a request has: they are stored once a week.
create table prompt_parts (
  workspace_id uuid not null,
  agent_id uuid not null,
  week date not null,
  digest text not null,
  content json not null,
  primary key (workspace_id, agent_id, week, digest),
  constraint prompt_parts_agent_fkey foreign key (workspace_id, agent_id) references agents (workspace_id, id) on delete cascade
);
do $$
begin
  alter table prompt_parts alter content set compression lz4;
exception when feature_not_supported then
  null;
end
$$;
comment on table prompt_parts is 'Parts of requests that are the agent''s own and have nothing of a conversation; turn_steps.request names them by their digest';
comment on column prompt_parts.week is 'The Monday of the week in which the turn began, in UTC: parts are removed with the steps of their week';
comment on column prompt_parts.digest is 'The first 128 bits of SHA-256, in hexadecimal';
create index prompt_parts_of_week on prompt_parts (week);
select protect_tenant_table('prompt_parts');
