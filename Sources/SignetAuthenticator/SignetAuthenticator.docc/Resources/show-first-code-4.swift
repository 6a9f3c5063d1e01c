import SignetAuthenticator
import SignetNetwork
import SignetStorage

func enrollAndCode(uri: String, directory: VaultDirectory, installationID: String) async throws -> String {
    let vault = try directory.holdsVault ? directory.openVault() : directory.createVault(.keyFile)
    let transport = AsyncHTTPTransport()
    // A random text that the app makes at its first start and keeps.
    let authenticator = Authenticator(
        store: AccountRecords(vault), transport: transport,
        device: PushDevice(token: installationID, name: "Mira's computer"))
}
