import Testing

@testable import SignetCore

@Suite("Inboxes at a push gateway")
struct PushInboxTests {
    private static let secret = Secret(Array("a secret of thirty-two bytes....".utf8))

    @Test("An inbox address is derived from the secret, is always the same, and does not reveal the secret")
    func derivesInboxAddress() throws {
        let inbox = try PushInbox(of: Self.secret)
        #expect(inbox.address == (try PushInbox(of: Self.secret)).address)
        #expect(inbox.address != (try PushInbox(of: Secret.random(byteCount: 32))).address)
        #expect(inbox.address.hasPrefix("signet-mailbox-") && inbox.address.utf8.count == 58)
        #expect(PushInbox.isAddress(inbox.address))
    }

    @Test(
        "Text that is not an inbox address is refused",
        arguments: [
            "", "token", "signet-mailbox-", "signet-mailbox-AAAA", "SIGNET-MAILBOX-AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
            "signet-mailbox-AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=",
            "signet-mailbox-AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAB",
            "signet-mailbox-AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA+A",
            "signet-mailbox-AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA ",
        ])
    func refusesInvalidInboxAddress(text: String) {
        #expect(!PushInbox.isAddress(text))
    }

    @Test("A proof is valid for its inbox and nonce only, and an altered proof never verifies for others")
    func verifiesInboxProof() throws {
        let inbox = try PushInbox(of: Self.secret)
        let proof = try inbox.proof("nonce.1")
        let verified = try #require(PushInbox.verified(proof))
        #expect(verified.address == inbox.address && verified.nonce == "nonce.1")
        let characters = Array(proof)
        for index in stride(from: 0, to: characters.count, by: 7) where characters[index] != "." {
            var other = characters
            other[index] = other[index] == "A" ? "B" : "A"
            // The last character of a segment has unused bits; the altered text is refused or means the same.
            if let found = PushInbox.verified(String(other)) {
                #expect(found.address == inbox.address && found.nonce == "nonce.1")
            }
        }
        let parts = proof.split(separator: ".")
        #expect(PushInbox.verified("\(parts[0]).\(parts[1]).") == nil)
        #expect(PushInbox.verified("eyJhbGciOiJub25lIn0.\(parts[1]).") == nil)
        #expect(PushInbox.verified("\(parts[0]).\(parts[1])") == nil)
        // A push stream's proof is not an inbox proof, whatever key signed it.
        let server = CompactJWS.sign(
            JSON.encode(PushStreamProof(mechanismUid: inbox.address, nonce: "nonce.1")), with: Self.secret)
        #expect(PushInbox.verified(server) == nil)
    }

    @Test("A key signs proofs for its own inbox only")
    func refusesProofOfOtherKey() throws {
        let (own, other) = (try PushInbox(of: Self.secret), try PushInbox(of: Secret.random(byteCount: 32)))
        let (mine, theirs) = (try own.proof("n").split(separator: "."), try other.proof("n").split(separator: "."))
        #expect(PushInbox.verified("\(mine[0]).\(mine[1]).\(theirs[2])") == nil)
    }
}
