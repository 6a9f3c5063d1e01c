// An OpenID provider for a benchmark: oidc-provider for Node.js in memory, with a login page and without a consent page.
// usage: node scripts/oidc-provider.mjs FOLDER, where FOLDER/node_modules has oidc-provider 9. Writes its port as a line, and ends with
// its standard input.
import { generateKeyPairSync } from 'node:crypto';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { parse } from 'node:querystring';
import { text } from 'node:stream/consumers';
import { pathToFileURL } from 'node:url';

const { default: Provider } = await import(pathToFileURL(createRequire(`${process.argv[2]}/`).resolve('oidc-provider')));
const key = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ format: 'jwk' });
const server = createServer().listen(0, '127.0.0.1');
await new Promise((done) => server.once('listening', done));

const provider = new Provider(`http://127.0.0.1:${server.address().port}`, {
  clients: [{ client_id: 'app', token_endpoint_auth_method: 'none', redirect_uris: ['http://127.0.0.1/callback'] }],
  jwks: { keys: [{ ...key, use: 'sig', alg: 'RS256' }] },
  features: { devInteractions: { enabled: false } },
  interactions: { url: (context, { uid }) => `/interaction/${uid}` },
  claims: { profile: ['name'] },
  findAccount: (context, id) => ({ accountId: id, claims: () => ({ sub: id, name: 'Alice' }) }),
  // A grant of what the client asks for takes the place of the consent page.
  async loadExistingGrant({ oidc }) {
    const grant = new oidc.provider.Grant({ clientId: oidc.client.clientId, accountId: oidc.account.accountId });
    grant.addOIDCScope(oidc.params.scope);
    await grant.save();
    return grant;
  },
});

provider.use(async (context, next) => {
  if (!context.path.startsWith('/interaction/')) return next();
  const { params } = await provider.interactionDetails(context.req, context.res);
  if (context.method !== 'POST') {
    context.body = `<!doctype html><html lang="en"><title>Sign in</title><h1>Sign in</h1><p>To go on to ${params.client_id}</p>
<form method="post" action="${context.path}"><label>Name <input name="name" required autocomplete="username"></label>
<label>Password <input name="password" type="password" required autocomplete="current-password"></label><button>Sign in</button></form>`;
    return undefined;
  }
  const { name, password } = parse(await text(context.req));
  context.assert(name === 'alice' && password === 'alicepw1', 401);
  return provider.interactionFinished(context.req, context.res, { login: { accountId: name } });
});
server.on('request', provider.callback());
process.stdin.resume().on('end', () => process.exit(0));
console.log(server.address().port);
