import SignetAuthenticator
import SignetNetwork
import SignetStorage

func enrollAndCode(uri: String, directory: VaultDirectory, installationID: String) async throws -> String {
    let vault = try directory.holdsVault ? directory.openVault() : directory.createVault(.keyFile)
    let transport = AsyncHTTPTransport()
}
