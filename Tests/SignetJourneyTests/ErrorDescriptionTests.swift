import Foundation
import SignetJourney
import SignetNetwork
import SignetOAuth
import SignetStorage
import Testing

@Suite("The errors of the engine")
struct ErrorDescriptionTests {
    @Test("An error has its description as localizedDescription, which views show")
    func describesErrorsForViews() throws {
        let storage = StoreError(.denied, "write", "the vault is damaged and can only be read")
        let network = TransportError(.timeout, host: "am.example.com", "no answer within 30 seconds")
        let errors: [any Error & CustomStringConvertible] = [storage, network, TokenError(.loginRequired)]
        for error in errors { #expect(error.localizedDescription == error.description) }
        #expect(storage.localizedDescription.contains("the vault is damaged"))
    }
}
