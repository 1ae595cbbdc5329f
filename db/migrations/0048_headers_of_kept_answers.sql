-- Why: a retry with the Idempotency-Key of a publication had the first answer without its header Agent-Warnings.

alter table idempotency_keys
  add column headers jsonb,
  -- A process of the release before may begin anew with an expired record and leave its headers, so nothing is said of records without an answer.
  add constraint idempotency_keys_headers check (jsonb_typeof(headers) = 'object' and octet_length(headers::text) <= 4096);
comment on column idempotency_keys.headers is 'The headers that the operation gave the answer, by name; null = none';
