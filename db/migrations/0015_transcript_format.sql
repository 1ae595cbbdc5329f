-- Why: stored JSON says in which format it is. A transcript was a bare list, which has no place for a number.

alter table turns drop constraint turns_transcript_check;
alter table turns add constraint turns_transcript_check check (jsonb_typeof(transcript) in ('array', 'object'));
comment on column turns.transcript is 'Tool calls and their results between the message and the reply, as later turns show them to the model; null = there were none. A list is format 1';
comment on column turns.paused is 'Where the run of the agent continues when its approvals are decided. Without a format number it is format 1';
