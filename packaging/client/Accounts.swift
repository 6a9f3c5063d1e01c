import SignetAuthenticator
import SignetNetwork
import SignetStorage

let authenticator = Authenticator(
    store: AccountRecords(unsealed: MemoryStore()), transport: AsyncHTTPTransport(),
    device: PushDevice(token: "installation", name: "Mira's computer"))
let account = try await authenticator.enroll(
    uri: "otpauth://hotp/Harbor%20Bank:mira?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&counter=0")
let code = try await authenticator.code(for: account.mechanisms[0].uid)
print(account.account.id.issuer, code.digits)
