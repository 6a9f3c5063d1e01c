import SignetCore

extension Endpoint {
    /// Returns the origin of the endpoint's pages as browsers write it (RFC 6454 section 6.2), with another host.
    func origin(at host: String) -> String {
        let name = host.contains(":") ? "[\(host)]" : host
        let isDefaultPort = port == (scheme == "https" ? 443 : 80)
        return "\(scheme)://\(name)\(isDefaultPort ? "" : ":\(port)")"
    }
}
