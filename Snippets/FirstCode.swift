// A whole program: enroll an account in the vault of the user, and print a code.
import SignetAuthenticator
import SignetNetwork
import SignetStorage

let uri = "otpauth://totp/Harbor%20Bank:mira?secret=VUXGFPBLNMQT3JNYV2AW55WWTAL5EDIJ&issuer=Harbor%20Bank"
let transport = AsyncHTTPTransport()
do {
    let directory = try VaultDirectory.default()
    let vault = try directory.holdsVault ? directory.openVault() : directory.createVault(.keyFile)
    let authenticator = Authenticator(
        store: AccountRecords(vault), transport: transport,
        device: PushDevice(token: "signet-\(vault.header.id)", name: "Mira's computer"))

    let enrolled = try await authenticator.enroll(uri: uri)
    let code = try await authenticator.code(for: enrolled.mechanisms[0].uid)
    print(code.digits)
} catch {
    print(error)
}
await transport.close()
