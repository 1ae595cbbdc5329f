-- Why: a turn whose process was killed is gone on with by another process. That one needs what was asked of the turn and what its steps came to,
-- and the first one, if it only slept, must not store anything any more.

alter table conversations add column turn_attempt int not null default 1;
comment on column conversations.turn_attempt is 'The attempt at the turn that holds the conversation: 1, and one more for each process that took it over from a dead one. Statements of an earlier attempt change nothing';

alter table turns add column request json;
comment on column turns.request is 'What was asked of the turn and is stored nowhere else, for a process that goes on with it: runtime/turn/storedRequest.ts reads it';

alter table turn_steps add column parent_seq int;
comment on column turn_steps.parent_seq is 'The delegation within which a sub-agent took the step; null = the agent of the conversation took it';

-- As `request` of 0039.
do $$
begin
  alter table turn_steps add column state json compression lz4;
exception when feature_not_supported then
  alter table turn_steps add column state json;
end
$$;
comment on column turn_steps.state is 'What a process that goes on with the turn needs of the step: runtime/agent/storedSteps.ts reads it. json and not jsonb, which changes the order of arguments';
