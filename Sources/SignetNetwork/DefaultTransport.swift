/// The transport of a client to which the app gives none.
package enum DefaultTransport {
    /// Creates the transport: over `URLSession` on Apple's systems, and over AsyncHTTPClient elsewhere.
    package static func make() -> any HTTPTransport {
        #if canImport(Security)
        URLSessionTransport()
        #else
        AsyncHTTPTransport()
        #endif
    }

    /// Closes the connections of a transport that ``make()`` created.
    package static func close(_ transport: any HTTPTransport) async {
        #if canImport(Security)
        (transport as? URLSessionTransport)?.close()
        #else
        await (transport as? AsyncHTTPTransport)?.close()
        #endif
    }
}
