import { type ModelServer, startModelServer } from '../servers/modelServer.ts';
import { startToolServer, type ToolServer } from '../tools/httpTools.ts';
import { startTestApp, type TestApp } from './app.ts';

/** What `useModelApp` started. Read it in hooks and tests: before them nothing is there yet. */
export interface ModelApp {
  readonly app: TestApp;
  /** Answers as the provider of every model of `app`; reset before each test. */
  readonly server: ModelServer;
}

/** The same, with an API that the tools of agents may call. */
export interface ModelAppWithTools extends ModelApp {
  /** What it received is forgotten before each test; what it answers stays. */
  readonly tools: ToolServer;
}

/**
 * Gives a test file, or a `describe`, a service whose models are answered by a server of its own, for as long as its
 * tests run: `const here = useModelApp();`. With `tools` there is a tool server too, and the service may call it.
 * Hooks run in the order in which they are registered: what a file adds to `here.app` goes into a `beforeAll` after
 * this call, and what must end before the service and its database do goes into an `afterAll` before it.
 */
export function useModelApp(): ModelApp;
export function useModelApp(options: { tools: true }): ModelAppWithTools;
export function useModelApp({ tools: withTools = false } = {}): ModelApp & { readonly tools: ToolServer | undefined } {
  let server: ModelServer;
  let tools: ToolServer | undefined;
  let app: TestApp;

  beforeAll(async () => {
    server = await startModelServer();
    if (withTools) tools = await startToolServer();
    app = await startTestApp({ models: server.settings(), allowPrivateNetwork: withTools });
  });
  beforeEach(() => {
    server.reset();
    if (tools) tools.received.length = 0;
  });
  afterAll(async () => {
    await app.close();
    await tools?.close();
    await server.close();
  });

  return {
    get app() {
      return app;
    },
    get server() {
      return server;
    },
    get tools() {
      return tools;
    },
  };
}
