#if canImport(Glibc)
import Glibc

/// Tells systemd the state of the service: one datagram to the socket that `NOTIFY_SOCKET` names (sd_notify(3)).
///
/// Without systemd it does nothing. A failure is not reported, because the service works without it.
func notifySystemd(_ state: String, _ environment: [String: String]) {
    guard let path = environment["NOTIFY_SOCKET"], path.hasPrefix("/") || path.hasPrefix("@") else { return }
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    var name = Array(path.utf8)
    guard name.count < MemoryLayout.size(ofValue: address.sun_path) else { return }
    // The name of an abstract socket begins with a NUL byte (unix(7)).
    if name[0] == UInt8(ascii: "@") { name[0] = 0 }
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: name) }
    let length = socklen_t(MemoryLayout<sa_family_t>.size + name.count)
    let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { return }
    defer { close(descriptor) }
    let message = Array(state.utf8)
    withUnsafePointer(to: &address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { socketAddress in
            _ = sendto(descriptor, message, message.count, 0, socketAddress, length)
        }
    }
}
#else
/// Does nothing: this system has no systemd.
func notifySystemd(_ state: String, _ environment: [String: String]) {}
#endif
