#if !(SecretService && os(Linux))
import SignetCore
import SignetStorage
import Testing

@Suite("The keyring in a build without libsecret")
struct WithoutSecretServiceTests {
    @Test("A keyring that was not built in exists by name, and every call reports that")
    func reportsKeyringNotBuilt() throws {
        let protector = SecretServiceProtector()
        let wrapped = [1] + [UInt8](repeating: 0, count: 76)
        #expect(protector.name == "secret-service")
        let wrapRefusal = code { try protector.wrap(Secret.random(byteCount: 32), context: []) }
        #expect(wrapRefusal == .keyUnavailable)
        let unwrapRefusal = code { try protector.unwrap(wrapped, context: []) }
        #expect(unwrapRefusal == .keyUnavailable)
        let epochRefusal = code { try protector.epoch(ofVault: "vault") }
        #expect(epochRefusal == .keyUnavailable)
        let rememberRefusal = code { try protector.remember(epoch: 1, ofVault: "vault") }
        #expect(rememberRefusal == .keyUnavailable)
        let ownerRefusal = code { try protector.owner() }
        #expect(ownerRefusal == .keyUnavailable)
        guard case .unusable(let reason) = protector.availability() else { return #expect(Bool(false), "usable") }
        #expect(reason.contains("trait SecretService"))
    }
}
#endif
