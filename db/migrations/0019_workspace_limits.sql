-- Why: no workspace may fill the disk, or take a process from the others. Each limit has a default, and an operator changes it.

alter table workspaces
  add column storage_limit bigint default 10737418240 check (storage_limit >= 0),
  add column skill_limit int default 500 check (skill_limit >= 0),
  add column external_mcp_limit int default 100 check (external_mcp_limit >= 0),
  add column knowledge_source_limit int default 2000 check (knowledge_source_limit >= 0),
  add column request_limit int default 256 check (request_limit >= 0),
  add column turn_limit int default 1000 check (turn_limit >= 0),
  add column background_limit int default 256 check (background_limit >= 1);
comment on column workspaces.storage_limit is 'Most bytes of stored files: knowledge, skills, spoken replies; null = no limit';
comment on column workspaces.skill_limit is 'Most skills that are not deleted; null = no limit';
comment on column workspaces.external_mcp_limit is 'Most MCP servers that are not deleted; null = no limit';
comment on column workspaces.knowledge_source_limit is 'Most knowledge sources that are not deleted; null = no limit';
comment on column workspaces.request_limit is 'Most requests under way in one process, messages apart; null = no limit';
comment on column workspaces.turn_limit is 'Most messages under way in one process, streams included; null = no limit';
comment on column workspaces.background_limit is 'Most background turns at a time in one process; null = no limit';

alter table messages add column audio_bytes bigint check (audio_bytes >= 0);
comment on column messages.audio_bytes is 'Size of the reply as speech; null = there is none, or it is older than this column';
-- What a workspace has stored is added up when it stores more.
create index messages_spoken on messages (workspace_id) include (audio_bytes) where audio_bytes is not null;
