import Testing

@testable import SignetNetwork

@Suite("Users at the other end of a loopback connection")
struct LocalPeerTests {
    @Test("A port that waits for a browser serves the superuser, and no other user", arguments: [true, false])
    func servesSuperuser(isConfidential: Bool) {
        for peer in [LocalPeer.sameUser, .superuser] { #expect(peer.isAccepted(isConfidential: isConfidential)) }
        #expect(!LocalPeer.otherUser.isAccepted(isConfidential: isConfidential))
        #if os(Linux)
        #expect(LocalPeer.unknown.isAccepted(isConfidential: isConfidential) == !isConfidential)
        #endif
    }
}
