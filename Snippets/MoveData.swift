// Take over the exported data of an app of the ForgeRock or the Ping SDK for iOS.
import FRAuth
import FRAuthenticator
import Foundation
import SignetStorage

// snippet.hide
func takeOver(from file: URL) async throws {
    // snippet.show
    let items = try LegacyArchive(Data(contentsOf: file))
    try FRAClient.setLegacyStore(items)  // FRAuthenticator, before the start
    try FRAuth.setLegacyStore(items)  // FRAuth, before the start; set applicationName too
    try await VaultProvider.default.takeOverItems(from: items)  // Ping's KeychainStorage
    // snippet.hide
}
