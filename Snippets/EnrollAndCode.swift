// Enroll an account and make a code: the vault on disk, the network through async-http-client.
import SignetAuthenticator
import SignetNetwork
import SignetStorage

// snippet.hide
func enrollAndCode(uri: String, directory: VaultDirectory) async throws -> String {
    // snippet.show
    let vault = try directory.holdsVault ? directory.openVault() : directory.createVault(.keyFile)
    let transport = AsyncHTTPTransport()
    let authenticator = Authenticator(
        store: AccountRecords(vault), transport: transport,
        device: PushDevice(token: "a random text that stays the same", name: "Mira's laptop"))

    let enrolled = try await authenticator.enroll(uri: uri)
    let code = try await authenticator.code(for: enrolled.mechanisms[0].uid)
    await transport.close()
    return code.digits
    // snippet.hide
}
