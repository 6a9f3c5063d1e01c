/// The transport of a client to which the app gives none.
package enum DefaultTransport {
    /// Creates the transport: over `URLSession` on Apple's systems, and over AsyncHTTPClient elsewhere.
    ///
    /// On other systems without the package trait `AsyncHTTPClient`, the transport refuses each request, and the reason names the trait.
    package static func make() -> any HTTPTransport {
        #if canImport(Security)
        URLSessionTransport()
        #elseif AsyncHTTPClient
        AsyncHTTPTransport()
        #else
        NoTransport(reason: "the app gives no HTTP transport, and the package trait AsyncHTTPClient is disabled")
        #endif
    }

    /// Closes the connections of a transport that ``make()`` created.
    package static func close(_ transport: any HTTPTransport) async {
        #if canImport(Security)
        (transport as? URLSessionTransport)?.close()
        #elseif AsyncHTTPClient
        await (transport as? AsyncHTTPTransport)?.close()
        #endif
    }
}
