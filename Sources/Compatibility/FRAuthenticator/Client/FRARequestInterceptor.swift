public import SignetNetwork

/// An app's hook that sees each request of the push protocol before it is sent, and may change it.
///
/// It can't change the headers by which servers recognize the SDK (`x-requested-with` and `x-requested-platform`). It has a name of
/// its own, because the `RequestInterceptor` of `FRCore` is another protocol.
public typealias FRARequestInterceptor = SignetNetwork.RequestInterceptor
