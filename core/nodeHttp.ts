/**
 * Node's `http`, for those who need more of it than types. An import of it evaluates each of its exports, and with them a client for
 * WebSockets: a tenth of the time that a start takes.
 */
export const { createServer: createNodeServer, STATUS_CODES: REASON_PHRASES } = process.getBuiltinModule('node:http');
