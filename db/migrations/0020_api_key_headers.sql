-- Why: a server may want its API key in a header of another name than X-Api-Key.
alter table external_mcps
  drop constraint external_mcps_one_header,
  add constraint external_mcps_one_header check (auth_header_name is null or auth_type in ('CUSTOM_HEADER', 'API_KEY'));
comment on column external_mcps.auth_header_name is
  'The header of the one value. CUSTOM_HEADER: null when given as a list of headers. API_KEY: null for X-Api-Key';
